package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// ingest adds a note that its owner alone may see and that waits for review. The same note twice is one note.
func ingest(ctx context.Context, s *store, args arguments, a *answer) error {
	switch {
	case args.user == "" || args.user == public:
		return errRefused("a note needs an owner: no user is known")
	case strings.TrimSpace(args.Title) == "" || strings.TrimSpace(args.Text) == "" || args.KnowledgeBase == "":
		return errRefused("title, text and knowledge_base_id are required")
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", args.user, args.KnowledgeBase, args.Title, args.Text))
	n := note{
		ID: "src_in_" + hex.EncodeToString(sum[:6]), KnowledgeBase: args.KnowledgeBase, Title: strings.TrimSpace(args.Title),
		Owner: args.user, Body: strings.TrimSpace(args.Text), Tags: splitList(args.Channel), Pending: true,
	}
	known, err := s.list(ctx, false, bounds{User: args.user, Sources: []string{n.ID}})
	if err != nil {
		return err
	}
	if len(known) > 0 {
		n.Pending = false
	} else if err := s.put(ctx, n); err != nil {
		return err
	}
	a.add(n, entry{Score: 1, Status: status(n)})
	return nil
}

func status(n note) string {
	if n.Pending {
		return "pending_review"
	}
	return "indexed"
}

func extractAll(ctx context.Context, s *store, args arguments, a *answer) error {
	if args.user == "" {
		return errRefused("only a known user may rebuild the index")
	}
	if _, err := s.reindex(ctx); err != nil {
		return err
	}
	return indexStatus(ctx, s, args, a)
}

// reviewItems lists what waits for review inside the bounds, or settles one note of the user's own.
func reviewItems(ctx context.Context, s *store, args arguments, a *answer) error {
	b := args.bounds()
	if args.SourceItem != "" {
		b.Sources = []string{args.SourceItem}
	}
	waiting, err := s.list(ctx, true, b)
	if err != nil {
		return err
	}
	switch args.Action {
	case "", "list":
		for _, n := range waiting {
			a.add(n, entry{Snippet: n.digest(), Score: 1, Status: status(n)})
		}
		a.Diagnostics["pending_review"] = len(waiting)
		return nil
	case "approve", "reject":
		if args.SourceItem == "" || len(waiting) != 1 || waiting[0].Owner != args.user {
			return errRefused("no such note of yours waits for review")
		}
		return settle(ctx, s, waiting[0], args.Action, a)
	}
	return errRefused("action must be list, approve or reject")
}

func settle(ctx context.Context, s *store, n note, action string, a *answer) error {
	n.Pending = false
	settled := "indexed"
	change := s.put
	if action == "reject" {
		settled, change = "rejected", s.remove
	}
	if err := change(ctx, n); err != nil {
		return err
	}
	a.add(n, entry{Score: 1, Status: settled})
	_, err := s.reindex(ctx)
	return err
}
