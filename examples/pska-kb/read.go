package main

import (
	"cmp"
	"context"
	"slices"
)

func search(ctx context.Context, s *store, args arguments, a *answer) error {
	hits, err := s.search(ctx, args.Query, args.limit(), args.bounds())
	for _, h := range hits {
		a.add(h.note, entry{Snippet: h.Snippet, Score: h.Score})
	}
	a.Diagnostics["matched"] = len(hits)
	return err
}

// agenticSearch looks for every word by itself and ranks notes by how well they do over all words.
func agenticSearch(ctx context.Context, s *store, args arguments, a *answer) error {
	merged := map[string]hit{}
	words := wordsOf(args.Query)
	for _, word := range words {
		hits, err := s.search(ctx, word, maxTopK, args.bounds())
		if err != nil {
			return err
		}
		for rank, h := range hits {
			known, found := merged[h.ID]
			if !found {
				known = h
				known.Score = 0
			}
			known.Score += 1 / float64(rank+10)
			merged[h.ID] = known
		}
	}
	var best []hit
	for _, h := range merged {
		best = append(best, h)
	}
	slices.SortFunc(best, func(x, y hit) int { return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.ID, y.ID)) })
	for _, h := range best[:min(len(best), args.limit())] {
		a.add(h.note, entry{Snippet: h.Snippet, Score: h.Score})
	}
	a.Diagnostics["searched_words"], a.Diagnostics["matched"] = orEmpty(words), len(best)
	return nil
}

func indexStatus(ctx context.Context, s *store, args arguments, a *answer) error {
	indexed, err := s.list(ctx, false, args.bounds())
	if err != nil {
		return err
	}
	pending, err := s.list(ctx, true, args.bounds())
	counts := map[string]int{}
	for _, n := range indexed {
		counts[n.KnowledgeBase]++
	}
	a.Diagnostics["indexed"], a.Diagnostics["pending_review"] = len(indexed), len(pending)
	a.Diagnostics["notes_per_knowledge_base"] = counts
	return err
}

// chosen returns the notes that a call names: those of its source ids, or else those its query finds, or else all.
func chosen(ctx context.Context, s *store, args arguments) ([]hit, error) {
	if len(args.bounds().Sources) == 0 && args.Query != "" {
		return s.search(ctx, args.Query, args.limit(), args.bounds())
	}
	notes, err := s.list(ctx, false, args.bounds())
	var hits []hit
	for _, n := range notes[:min(len(notes), maxTopK)] {
		hits = append(hits, hit{note: n, Score: 1})
	}
	return hits, err
}

func readEvidence(ctx context.Context, s *store, args arguments, a *answer) error {
	hits, err := chosen(ctx, s, args)
	for _, h := range hits[:min(len(hits), args.limit())] {
		a.add(h.note, entry{Text: h.Body, Score: h.Score})
	}
	a.Diagnostics["matched"] = len(hits)
	return err
}

// graphContext shows links only to notes that lie inside the same bounds.
func graphContext(ctx context.Context, s *store, args arguments, a *answer) error {
	hits, err := chosen(ctx, s, args)
	if err != nil {
		return err
	}
	reachable, err := s.list(ctx, false, args.bounds())
	for _, h := range hits {
		var links []string
		for _, id := range h.links() {
			if slices.ContainsFunc(reachable, func(n note) bool { return n.ID == id }) {
				links = append(links, id)
			}
		}
		a.add(h.note, entry{Score: h.Score, Links: links, Tags: h.Tags})
	}
	a.Diagnostics["matched"] = len(hits)
	return err
}

func digestContext(ctx context.Context, s *store, args arguments, a *answer) error {
	hits, err := chosen(ctx, s, args)
	for _, h := range hits {
		a.add(h.note, entry{Snippet: h.digest(), Score: h.Score})
	}
	a.Diagnostics["matched"] = len(hits)
	return err
}
