// Package sed is a stream editor: it parses a script of editing commands, then runs it over lines.
package sed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// Table returns the utilities by name.
func Table() command.Table { return command.Table{"sed": run} }

func run(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "n,quiet,silent e,expression: f,file: i,in-place? E,regexp-extended r s,separate z,null-data u,unbuffered l: ,posix ,debug ,sandbox ,follow-symlinks")
	if err != nil {
		return c.Usage(err)
	}
	text, files, err := script(c, o)
	if err != nil {
		return c.Usage(err)
	}
	first, _, _ := strings.Cut(text, "\n")
	program, err := Parse(text, o.Has("E") || o.Has("r"))
	if err != nil {
		return c.Usage(fmt.Errorf("-e expression: %w", err))
	}
	e := &editor{c: c, program: program, quiet: o.Has("n") || first == "#n", end: '\n', writes: map[string]io.WriteCloser{}}
	if o.Has("z") {
		e.end = 0
	}
	defer e.close()
	switch {
	case o.Has("i"):
		return e.inPlace(ctx, files, o.Value("i", ""))
	case o.Has("s"):
		return e.separate(ctx, files)
	}
	return e.stream(ctx, files, c.Out)
}

// script joins the parts of the program, and returns it with the files to edit.
func script(c *command.Call, o command.Options) (text string, files []string, err error) {
	var parts []string
	for _, name := range o.Values("f") {
		input, err := c.Open(name)
		if err != nil {
			return "", nil, fmt.Errorf("couldn't open file %s: %s", name, command.Reason(err))
		}
		data, err := io.ReadAll(input)
		if err = errors.Join(err, input.Close()); err != nil {
			return "", nil, err
		}
		parts = append(parts, strings.TrimSuffix(string(data), "\n"))
	}
	parts = append(parts, o.Values("e")...)
	files = o.Operands
	if len(parts) == 0 {
		if len(files) == 0 {
			return "", nil, errors.New("a script is needed")
		}
		parts, files = files[:1], files[1:]
	}
	return strings.Join(parts, "\n"), files, nil
}

// stream edits all inputs as one.
func (e *editor) stream(ctx context.Context, files []string, out *bufio.Writer) int {
	e.out = out
	lines := newSource(e.c, files, e.end)
	err := e.edit(ctx, lines)
	return e.status(lines, err)
}

func (e *editor) status(lines *source, err error) int {
	if err != nil && !errors.Is(err, command.ErrStop) {
		return e.c.Usage(err)
	}
	if lines.failed && e.exit == 0 {
		return 2
	}
	return e.exit
}

func (e *editor) separate(ctx context.Context, files []string) int {
	status := 0
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, name := range files {
		if found := e.stream(ctx, []string{name}, e.c.Out); found != 0 {
			status = found
		}
		if e.quit {
			break
		}
	}
	return status
}

// inPlace replaces every file by its edited form, keeping a copy when a suffix says so.
func (e *editor) inPlace(ctx context.Context, files []string, suffix string) int {
	status := 0
	for _, name := range files {
		full := e.c.Path(name)
		info, err := e.c.Disk.Stat(full)
		if err == nil && !info.Mode().IsRegular() {
			err = errors.New("not a regular file")
		}
		var before []byte
		if err == nil {
			before, err = e.c.Disk.ReadFile(full)
		}
		if err != nil {
			status = 4
			e.c.Fail("couldn't edit %s: %s", name, command.Reason(err))
			continue
		}
		var after bytes.Buffer
		out := bufio.NewWriter(&after)
		if found := e.stream(ctx, []string{name}, out); found != 0 {
			status = found
		}
		_ = out.Flush() // into memory
		if suffix != "" {
			err = e.c.Disk.WriteFile(e.c.Path(backup(name, suffix)), before, info.Mode().Perm())
		}
		if err == nil && !bytes.Equal(before, after.Bytes()) {
			err = e.c.Disk.WriteFile(full, after.Bytes(), info.Mode().Perm())
		}
		if err != nil {
			return e.c.Trouble(name, err)
		}
		if e.quit {
			break
		}
	}
	return status
}

func backup(name, suffix string) string {
	at := strings.LastIndexByte(name, '/') + 1
	if strings.Contains(suffix, "*") {
		return name[:at] + strings.ReplaceAll(suffix, "*", name[at:])
	}
	return name + suffix
}
