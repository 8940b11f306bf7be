package main

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// public is the user whom everybody may read along with.
const public = "public"

// note is one source item.
type note struct {
	ID, KnowledgeBase, Title, Owner string
	VisibleTo, Tags                 []string
	Body                            string
	Pending                         bool // waits for review and cannot be found yet
}

// readers are the users who may see the note.
func (n note) readers() []string { return append([]string{n.Owner}, n.VisibleTo...) }

// readNotes reads every Markdown file below folder, ordered by id.
func readNotes(folder fs.FS) ([]note, error) {
	var notes []note
	err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		text, err := fs.ReadFile(folder, path)
		if err != nil {
			return err
		}
		n, err := parseNote(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		notes = append(notes, n)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	slices.SortFunc(notes, func(a, b note) int { return strings.Compare(a.ID, b.ID) })
	return notes, nil
}

// parseNote reads front matter of "key: value" lines between two lines of dashes, and the text below it.
func parseNote(text string) (note, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	rest, found := strings.CutPrefix(text, "---\n")
	head, body, closed := strings.Cut(rest, "\n---\n")
	if !found || !closed {
		return note{}, fmt.Errorf("no front matter")
	}
	n := note{Body: strings.TrimSpace(body)}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch key {
		case "source_item_id":
			n.ID = value
		case "knowledge_base_id":
			n.KnowledgeBase = value
		case "title":
			n.Title = value
		case "owner":
			n.Owner = value
		case "visible_to":
			n.VisibleTo = splitList(value)
		case "tags":
			n.Tags = splitList(value)
		default:
			return note{}, fmt.Errorf("unknown key %q", key)
		}
	}
	if n.ID == "" || n.KnowledgeBase == "" || n.Owner == "" {
		return note{}, fmt.Errorf("source_item_id, knowledge_base_id and owner are required")
	}
	return n, nil
}

func splitList(text string) []string {
	var list []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// links are the ids of the notes that this one names in double brackets.
func (n note) links() []string {
	var ids []string
	for _, match := range regexp.MustCompile(`\[\[([^\[\]]+)\]\]`).FindAllStringSubmatch(n.Body, -1) {
		ids = append(ids, match[1])
	}
	return ids
}

// digest is the first sentence of the note.
func (n note) digest() string {
	line, _, _ := strings.Cut(n.Body, "\n")
	if sentence, _, more := strings.Cut(line, ". "); more {
		return sentence + "."
	}
	return line
}
