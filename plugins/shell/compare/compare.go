// Package compare shows what differs between files and folders.
package compare

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// Table returns the utilities by name.
func Table() command.Table { return command.Table{"diff": diff, "cmp": compareBytes} }

// differ is one call of diff.
type differ struct {
	c       *command.Call
	o       command.Options
	context int // lines around a change in unified form
	status  int
}

func diff(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "u,unified? U: r,recursive q,brief s,report-identical-files N,new-file i,ignore-case w,ignore-all-space b,ignore-space-change B,ignore-blank-lines a,text x,exclude: y,side-by-side c e n ,color? ,label: L: ,normal ,strip-trailing-cr d W: Z")
	if err != nil {
		return c.Usage(err)
	}
	if len(o.Operands) != 2 {
		return c.Usage(errors.New("two files or folders are needed"))
	}
	if o.Last("y", "c", "e", "n") != "" {
		return c.Usage(errors.New("only the normal and the unified (-u) form are available"))
	}
	d := &differ{c: c, o: o, context: -1}
	if o.Has("u") {
		d.context = 3
	}
	if o.Has("U") {
		if d.context, err = o.Number("U", 3); err != nil {
			return c.Usage(err)
		}
	}
	d.operands(ctx, o.Operands[0], o.Operands[1])
	return d.status
}

func (d *differ) isFolder(name string) bool {
	info, err := d.c.Disk.Stat(d.c.Path(name))
	return name != "-" && err == nil && info.IsDir()
}

func (d *differ) trouble(name string, err error) {
	d.c.Trouble(name, err)
	d.status = 2
}

func (d *differ) operands(ctx context.Context, left, right string) {
	switch {
	case d.isFolder(left) && d.isFolder(right):
		d.folders(ctx, left, right)
	case d.isFolder(left):
		d.files(path.Join(left, path.Base(right)), right)
	case d.isFolder(right):
		d.files(left, path.Join(right, path.Base(left)))
	default:
		d.files(left, right)
	}
}

// folders compares the entries of two folders.
func (d *differ) folders(ctx context.Context, left, right string) {
	names := map[string]int{}
	var order []string
	for side, name := range []string{left, right} {
		entries, err := d.c.Disk.ReadDir(d.c.Path(name))
		if err != nil {
			d.trouble(name, err)
			return
		}
		for _, entry := range entries {
			if d.excluded(entry.Name()) {
				continue
			}
			if names[entry.Name()] == 0 {
				order = append(order, entry.Name())
			}
			names[entry.Name()] |= side + 1
		}
	}
	sortStrings(order)
	for _, name := range order {
		if ctx.Err() != nil {
			return
		}
		d.pair(ctx, left, right, name, names[name])
	}
}

func (d *differ) pair(ctx context.Context, left, right, name string, sides int) {
	a, b := joined(left, name), joined(right, name)
	folders := [2]bool{d.isFolder(a), d.isFolder(b)}
	switch {
	case sides != 3 && (!d.o.Has("N") || folders[0] || folders[1]):
		d.status = max(d.status, 1)
		side := left
		if sides == 2 {
			side = right
		}
		fmt.Fprintf(d.c.Out, "Only in %s: %s\n", side, name)
	case folders[0] && folders[1]:
		if d.o.Has("r") {
			d.folders(ctx, a, b)
		} else {
			fmt.Fprintf(d.c.Out, "Common subdirectories: %s and %s\n", a, b)
		}
	case folders[0] != folders[1]:
		d.status = max(d.status, 1)
		kinds := map[bool]string{true: "directory", false: "regular file"}
		fmt.Fprintf(d.c.Out, "File %s is a %s while file %s is a %s\n", a, kinds[folders[0]], b, kinds[folders[1]])
	default:
		d.files(a, b)
	}
}

func joined(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

func (d *differ) excluded(name string) bool {
	for _, glob := range d.o.Values("x") {
		if matched, err := path.Match(glob, name); err == nil && matched {
			return true
		}
	}
	return false
}

func (d *differ) load(name string) (string, error) {
	input, err := d.c.Open(name)
	if err != nil {
		if _, gone := d.c.Disk.Stat(d.c.Path(name)); d.o.Has("N") && gone != nil {
			return "", nil
		}
		return "", err
	}
	data, err := io.ReadAll(input)
	return string(data), errors.Join(err, input.Close())
}

// files compares two files.
func (d *differ) files(left, right string) {
	a, err := d.load(left)
	if err != nil {
		d.trouble(left, err)
		return
	}
	b, err := d.load(right)
	if err != nil {
		d.trouble(right, err)
		return
	}
	linesA, linesB := split(a), split(b)
	edits, err := script(d.keys(linesA), d.keys(linesB))
	if d.o.Has("B") {
		edits = withoutBlank(edits, linesA, linesB)
	}
	same := len(edits) == 0 && err == nil
	switch {
	case same && d.o.Has("s"):
		fmt.Fprintf(d.c.Out, "Files %s and %s are identical\n", left, right)
	case same:
	case d.o.Has("q") || err != nil:
		d.status = max(d.status, 1)
		fmt.Fprintf(d.c.Out, "Files %s and %s differ\n", left, right)
	case !d.o.Has("a") && (strings.IndexByte(a, 0) >= 0 || strings.IndexByte(b, 0) >= 0):
		d.status = max(d.status, 1)
		fmt.Fprintf(d.c.Out, "Binary files %s and %s differ\n", left, right)
	default:
		d.status = max(d.status, 1)
		if d.o.Has("r") && d.isFolder(d.o.Operands[0]) {
			fmt.Fprintf(d.c.Out, "diff %s%s %s\n", d.given(), left, right)
		}
		d.show(page{left: left, right: right, a: linesA, b: linesB, edits: edits})
	}
}

// given repeats the options as they were written.
func (d *differ) given() string {
	text := ""
	for _, arg := range d.c.Args {
		if strings.HasPrefix(arg, "-") && len(arg) > 1 {
			text += arg + " "
		}
	}
	return text
}

// split keeps the line ends, so that a last line without one differs.
func split(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// keys returns what counts of every line.
func (d *differ) keys(lines []string) []string {
	keys := make([]string, len(lines))
	for i, line := range lines {
		if d.o.Has("w") {
			line = strings.Join(strings.Fields(line), "")
		}
		if d.o.Has("b") || d.o.Has("Z") {
			line = strings.TrimRight(strings.Join(strings.Fields(" "+line), " "), " ")
			if lines[i][0] == ' ' || lines[i][0] == '\t' {
				line = " " + line
			}
		}
		if d.o.Has("strip-trailing-cr") {
			line = strings.Replace(line, "\r\n", "\n", 1)
		}
		if d.o.Has("i") {
			line = strings.ToLower(line)
		}
		keys[i] = line
	}
	return keys
}

func compareBytes(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "s,quiet,silent l,verbose n,bytes: b i:")
	if err == nil && len(o.Operands) != 2 {
		err = errors.New("two files are needed")
	}
	if err != nil {
		return c.Usage(err)
	}
	limit, err := o.Number("n", -1)
	if err != nil {
		return c.Usage(err)
	}
	var inputs [2]*bufio.Reader
	for i, name := range o.Operands {
		input, err := c.Open(name)
		if err != nil {
			c.Trouble(name, err)
			return 2
		}
		defer input.Close()
		inputs[i] = bufio.NewReader(input)
	}
	status, line := 0, 1
	for at := 1; limit < 0 || at <= limit; at++ {
		a, endA := inputs[0].ReadByte()
		b, endB := inputs[1].ReadByte()
		switch {
		case endA != nil && endB != nil:
			return status
		case endA != nil || endB != nil:
			name := o.Operands[0]
			if endA == nil {
				name = o.Operands[1]
			}
			if !o.Has("s") {
				c.Fail("EOF on %s after byte %d, line %d", name, at-1, line)
			}
			return 1
		case a != b && o.Has("l"):
			fmt.Fprintf(c.Out, "%d %o %o\n", at, a, b)
			status = 1
		case a != b:
			if !o.Has("s") {
				fmt.Fprintf(c.Out, "%s %s differ: byte %d, line %d\n", o.Operands[0], o.Operands[1], at, line)
			}
			return 1
		}
		if a == '\n' {
			line++
		}
	}
	return status
}
