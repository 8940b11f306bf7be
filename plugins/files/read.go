package files

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// lineRange is the part of a file that was asked for: lines first to last, counted from 1. A last of 0 means the
// end of the file.
type lineRange struct {
	first, last int
}

// readFile answers with the file's own bytes. A note in brackets at the end says when there is more.
func readFile(_ context.Context, f folder, args json.RawMessage) (string, error) {
	var given string
	var want lineRange
	if err := (fields{"path": &given, "start_line": &want.first, "end_line": &want.last}).read(args); err != nil {
		return "", err
	}
	name, err := file(given)
	if err != nil {
		return "", err
	}
	if err := want.check(); err != nil {
		return "", err
	}
	handle, err := f.openFile(name)
	if err != nil {
		return "", err
	}
	defer handle.Close()
	reader := bufio.NewReaderSize(handle, sniffBytes)
	head, err := reader.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", trouble(name, err)
	}
	if isBinary(head) {
		return "", fmt.Errorf("%q %w", name, errBinary)
	}
	return readRange(reader, name, want)
}

func (r *lineRange) check() error {
	if r.first == 0 {
		r.first = 1
	}
	switch {
	case r.first < 0 || r.last < 0:
		return errors.New("lines are counted from 1; start_line and end_line must not be negative")
	case r.last != 0 && r.last < r.first:
		return fmt.Errorf("end_line %d lies before start_line %d", r.last, r.first)
	}
	return nil
}

func readRange(reader *bufio.Reader, name string, want lineRange) (string, error) {
	skipped, err := skipLines(reader, want.first-1)
	if err != nil {
		return "", trouble(name, err)
	}
	if skipped < want.first-1 {
		return "", fmt.Errorf("%q has only %s; start_line %d lies behind its end", name, plural(skipped, "line"), want.first)
	}
	taken, err := takeLines(reader, want)
	if err != nil {
		return "", trouble(name, err)
	}
	if isBinary(taken.text) {
		return "", fmt.Errorf("%q %w", name, errBinary)
	}
	if len(taken.text) == 0 && want.first > 1 {
		return "", fmt.Errorf("%q has only %s; start_line %d lies behind its end", name, plural(skipped, "line"), want.first)
	}
	return taken.withNote(want), nil
}

// taken is the text of some lines and what came of the wish for them.
type taken struct {
	text  []byte
	lines int  // lines in text, the last one perhaps cut
	more  bool // the file goes on behind text
	cut   bool // the answer's bound, not the wish, ended it
	part  bool // the last line of text is not whole
}

// skipLines reads past n lines and says how many there were.
func skipLines(reader *bufio.Reader, n int) (int, error) {
	for done := 0; done < n; {
		chunk, err := reader.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(chunk) == 0:
			return done, nil
		case errors.Is(err, io.EOF):
			return done + 1, nil
		case err != nil:
			return done, err
		default:
			done++
		}
	}
	return n, nil
}

// takeLines reads the wanted lines, at most maxReadBytes of them.
func takeLines(reader *bufio.Reader, want lineRange) (taken, error) {
	var out taken
	var text bytes.Buffer
	limit := want.last - want.first + 1
	for want.last == 0 || out.lines < limit {
		chunk, err := reader.ReadSlice('\n')
		if room := maxReadBytes - text.Len(); len(chunk) > room {
			return out.cutAt(text.Bytes(), chunk[:room]), nil
		}
		text.Write(chunk)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(chunk) > 0 {
			out.lines++
		}
		if errors.Is(err, io.EOF) {
			out.text = text.Bytes()
			return out, nil
		}
		if err != nil {
			return out, err
		}
	}
	_, err := reader.Peek(1)
	out.more = err == nil
	out.text = text.Bytes()
	return out, nil
}

// cutAt ends the text at the last whole line, or inside the line when it alone fills the answer.
func (t taken) cutAt(text, rest []byte) taken {
	t.more, t.cut = true, true
	if end := bytes.LastIndexByte(text, '\n'); end >= 0 {
		t.text = text[:end+1]
		return t
	}
	t.text = wholeRunes(append(text, rest...))
	t.lines, t.part = 1, true
	return t
}

func (t taken) withNote(want lineRange) string {
	last := want.first + t.lines - 1
	text := string(t.text)
	switch {
	case len(t.text) == 0:
		return "[The file is empty.]"
	case t.part:
		return fmt.Sprintf("%s\n[Cut after %d bytes of line %d, which is longer than one answer; use grep_files to look inside it.]",
			text, len(t.text), want.first)
	case t.cut:
		return text + fmt.Sprintf("[Cut after line %d: one answer holds %d bytes. Continue with start_line %d.]",
			last, maxReadBytes, last+1)
	case t.more:
		return strings.TrimSuffix(text, "\n") + fmt.Sprintf("\n[Lines %d to %d; the file goes on.]", want.first, last)
	}
	return text
}
