// Package find looks for files by their properties and runs commands over lists of words.
package find

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// Table returns the utilities by name.
func Table() command.Table { return command.Table{"find": run, "xargs": xargs} }

// entry is a file that find looks at.
type entry struct {
	name  string // as it is shown
	info  fs.FileInfo
	depth int
	base  string // the starting point it was found from
}

// walker is one call of find.
type walker struct {
	c      *command.Call
	expr   *Expression
	status int
	prune  bool // the folder just looked at is not entered
	quit   bool
	batch  []*action // of -exec … +
}

func run(ctx context.Context, c *command.Call) int {
	args := c.Args
	follow := false
	for len(args) > 0 && (args[0] == "-L" || args[0] == "-P" || args[0] == "-H") {
		follow, args = args[0] == "-L", args[1:]
	}
	starts := 0
	for starts < len(args) && !beginsExpression(args[starts]) {
		starts++
	}
	expr, err := Parse(args[starts:])
	if err != nil {
		return c.Usage(err)
	}
	expr.follow = expr.follow || follow
	w := &walker{c: c, expr: expr}
	if err := w.prepare(expr.root); err != nil {
		return c.Fail("%v", err)
	}
	bases := args[:starts]
	if len(bases) == 0 {
		bases = []string{"."}
	}
	for _, base := range bases {
		w.start(ctx, base)
	}
	for _, a := range w.batch {
		a.runBatch(ctx, w)
	}
	return w.status
}

func beginsExpression(word string) bool {
	return strings.HasPrefix(word, "-") && len(word) > 1 || word == "(" || word == ")" || word == "!" || word == ","
}

func (w *walker) start(ctx context.Context, base string) {
	info, err := w.stat(base)
	if err != nil {
		w.status = w.c.Fail("‘%s’: %s", base, command.Reason(err))
		return
	}
	w.visit(ctx, entry{name: base, info: info, base: base})
}

func (w *walker) stat(name string) (fs.FileInfo, error) {
	if w.expr.follow {
		if info, err := w.c.Disk.Stat(w.c.Path(name)); err == nil {
			return info, nil
		}
	}
	return w.c.Disk.Lstat(w.c.Path(name))
}

func (w *walker) visit(ctx context.Context, e entry) {
	if ctx.Err() != nil || w.quit {
		return
	}
	w.prune = false
	if !w.expr.depthFirst {
		w.look(ctx, e)
	}
	if e.info.IsDir() && !w.prune && (w.expr.maxDepth < 0 || e.depth < w.expr.maxDepth) {
		w.enter(ctx, e)
	}
	if w.expr.depthFirst && !w.quit {
		w.look(ctx, e)
	}
}

func (w *walker) look(ctx context.Context, e entry) {
	if e.depth >= w.expr.minDepth {
		w.expr.root.match(ctx, w, e)
	}
}

const maxDepth = 200 // folders inside folders

func (w *walker) enter(ctx context.Context, e entry) {
	entries, err := w.c.Disk.ReadDir(w.c.Path(e.name))
	if err == nil && e.depth > maxDepth {
		err = errors.New("too deep, or a loop of links")
	}
	if err != nil {
		w.status = w.c.Fail("‘%s’: %s", e.name, command.Reason(err))
		return
	}
	for _, below := range entries {
		name := join(e.name, below.Name())
		info, err := w.stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			w.status = w.c.Fail("‘%s’: %s", name, command.Reason(err))
			continue
		}
		w.visit(ctx, entry{name: name, info: info, depth: e.depth + 1, base: e.base})
	}
}

// join keeps the start of a name as it was given: ./a, a//b.
func join(dir, name string) string {
	if strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

func (w *walker) print(text string, end byte) {
	if w.c.Print(text, end) != nil {
		w.quit = true
	}
}

// prepare opens what the tests need and remembers the actions that run at the end.
func (w *walker) prepare(n *node) error {
	if n == nil {
		return nil
	}
	for _, part := range n.parts {
		if err := w.prepare(part); err != nil {
			return err
		}
	}
	if n.action != nil && n.action.together {
		w.batch = append(w.batch, n.action)
	}
	if n.reference != "" {
		info, err := w.c.Disk.Stat(w.c.Path(n.reference))
		if err != nil {
			return fmt.Errorf("‘%s’: %s", n.reference, command.Reason(err))
		}
		n.than = info.ModTime()
	}
	return nil
}

func baseName(name string) string {
	if name = strings.TrimRight(name, "/"); name == "" {
		return "/"
	}
	return path.Base(name)
}
