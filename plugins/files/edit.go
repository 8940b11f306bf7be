package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// change is one wish to replace text in a file.
type change struct {
	path, from, to string
	all            bool
}

// editFile replaces text that occurs exactly once, or every occurrence when the model says so.
func editFile(_ context.Context, f folder, args json.RawMessage) (string, error) {
	var c change
	known := fields{"path": &c.path, "old_text": &c.from, "new_text": &c.to, "replace_all": &c.all}
	if err := known.read(args); err != nil {
		return "", err
	}
	name, err := file(c.path)
	if err != nil {
		return "", err
	}
	if err := c.check(); err != nil {
		return "", err
	}
	before, err := f.target(name)
	if err != nil {
		return "", err
	}
	if before == nil {
		return "", fmt.Errorf("%q does not exist; use write_file to create it", name)
	}
	text, err := f.text(name, maxWriteBytes)
	if err != nil {
		return "", err
	}
	edited, count, err := c.apply(name, text)
	if err != nil {
		return "", err
	}
	if err := f.replace(name, edited); err != nil {
		return "", err
	}
	return fmt.Sprintf("edited %s (%s, now %s)", name, plural(count, "replacement"), plural(len(edited), "byte")), nil
}

func (c change) check() error {
	switch {
	case c.from == "":
		return errors.New("the argument \"old_text\" is required and must not be empty; use write_file to create a file")
	case c.from == c.to:
		return errors.New("old_text and new_text are the same; there is nothing to change")
	}
	return nil
}

// apply replaces the text and says how often.
func (c change) apply(name, text string) (string, int, error) {
	lines := occurrences(text, c.from)
	switch {
	case len(lines) == 0:
		return "", 0, fmt.Errorf("old_text was not found in %q; read the file and copy the text exactly, with its white space%s",
			name, lineEndHint(text, c.from))
	case len(lines) > 1 && !c.all:
		return "", 0, fmt.Errorf("old_text occurs %d times in %q, in lines %s; add text around it until it occurs once, or set replace_all",
			len(lines), name, someOf(lines))
	}
	count := strings.Count(text, c.from)
	if len(text)+count*(len(c.to)-len(c.from)) > maxWriteBytes {
		return "", 0, fmt.Errorf("the edited file would be larger than %d bytes", maxWriteBytes)
	}
	return strings.ReplaceAll(text, c.from, c.to), count, nil
}

// occurrences lists the line of every occurrence, overlapping ones too: "aa" stands twice in "aaa", and which one is
// meant cannot be told.
func occurrences(text, part string) []int {
	var lines []int
	line, from := 1, 0
	for {
		at := strings.Index(text[from:], part)
		if at < 0 {
			return lines
		}
		line += strings.Count(text[from:from+at], "\n")
		lines = append(lines, line)
		if part[0] == '\n' {
			line++
		}
		from += at + 1
	}
}

func lineEndHint(text, part string) string {
	if strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), part) {
		return " (its lines end in CR LF)"
	}
	return ""
}

// someOf writes the first few numbers of a list.
func someOf(numbers []int) string {
	const few = 5
	var parts []string
	for _, n := range numbers[:min(few, len(numbers))] {
		parts = append(parts, strconv.Itoa(n))
	}
	text := strings.Join(parts, ", ")
	if len(numbers) > few {
		text += " and more"
	}
	return text
}
