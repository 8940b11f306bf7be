package find

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// action is -exec and its like.
type action struct {
	words    []string
	together bool // +
	inFolder bool // execdir
	names    []string
}

func (p *parser) action(n *node) (*node, error) {
	if n.kind == "ok" || n.kind == "okdir" {
		return nil, fmt.Errorf("-%s is not available: nobody can be asked here", n.kind)
	}
	p.expr.acts = true
	a := &action{inFolder: n.kind == "execdir"}
	for {
		if len(p.words) == 0 {
			return nil, fmt.Errorf("missing argument to ‘-%s’", n.kind)
		}
		word := p.next()
		last := len(a.words) - 1
		if word == "+" && last >= 0 && a.words[last] == "{}" {
			a.words, a.together = a.words[:last], true
			break
		}
		if word == ";" {
			break
		}
		a.words = append(a.words, word)
	}
	if len(a.words) == 0 {
		return nil, fmt.Errorf("missing command of ‘-%s’", n.kind)
	}
	n.action = a
	return n, nil
}

// run runs the command for one file, or keeps the file for the end.
func (a *action) run(ctx context.Context, w *walker, e entry) bool {
	if a.together {
		a.names = append(a.names, e.name)
		if len(a.names) >= maxTogether {
			a.runBatch(ctx, w)
		}
		return true
	}
	c, name := w.c, e.name
	if a.inFolder {
		c = c.Named(c.Name, nil)
		c.Dir = path.Dir(w.c.Path(e.name))
		name = "./" + baseName(e.name)
	}
	words := make([]string, len(a.words))
	for i, word := range a.words {
		words[i] = strings.ReplaceAll(word, "{}", name)
	}
	return execute(ctx, c, words) == 0
}

const maxTogether = 5000 // names given to one command

func (a *action) runBatch(ctx context.Context, w *walker) {
	if len(a.names) == 0 {
		return
	}
	words := append(append([]string{}, a.words...), a.names...)
	a.names = nil
	if execute(ctx, w.c, words) != 0 {
		w.status = 1
	}
}

// execute runs a command in between one's own output.
func execute(ctx context.Context, c *command.Call, words []string) int {
	_ = c.Out.Flush()
	inner := c.Named(words[0], words[1:])
	inner.In = strings.NewReader("")
	status := c.Run(ctx, inner, words)
	_ = c.Out.Flush()
	return status
}

func xargs(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "+n,max-args: I: i,replace? L,max-lines: 0,null r,no-run-if-empty t,verbose P,max-procs: d,delimiter: s: a,arg-file: E: x p")
	if err != nil {
		return c.Usage(err)
	}
	x := &spread{c: c, o: o, words: o.Operands}
	if len(x.words) == 0 {
		x.words = []string{"echo"}
	}
	if x.size, err = o.Number("n", 0); err == nil && x.size < 0 {
		err = errors.New("-n wants a number above 0")
	}
	if err != nil {
		return c.Usage(err)
	}
	input := io.Reader(c.In)
	if name := o.Value("a", ""); name != "" {
		file, err := c.Open(name)
		if err != nil {
			return c.Trouble(name, err)
		}
		defer file.Close()
		input = file
	}
	data, err := io.ReadAll(bufio.NewReader(input))
	if err != nil {
		return c.Fail("%s", command.Reason(err))
	}
	items, err := x.items(string(data))
	if err != nil {
		return c.Fail("%v", err)
	}
	return x.run(ctx, items)
}

// spread is one call of xargs.
type spread struct {
	c     *command.Call
	o     command.Options
	words []string
	size  int // words for one command, 0: as many as there are
}

func (x *spread) replaces() bool { return x.o.Has("I") || x.o.Has("i") }

// items takes the input apart.
func (x *spread) items(text string) ([]string, error) {
	switch {
	case x.o.Has("0"):
		return nonEmptyEnd(strings.Split(text, "\x00")), nil
	case x.o.Has("d"):
		delimiter := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\0`, "\x00").Replace(x.o.Value("d", ""))
		return nonEmptyEnd(strings.Split(text, delimiter)), nil
	case x.replaces() || x.o.Has("L"):
		var lines []string
		for _, line := range strings.Split(text, "\n") {
			if line = strings.TrimLeft(line, " \t"); line != "" {
				lines = append(lines, line)
			}
		}
		if !x.replaces() {
			return lines, nil
		}
		for i, line := range lines {
			words, err := quoted(line)
			if err != nil {
				return nil, err
			}
			lines[i] = strings.Join(words, " ")
		}
		return lines, nil
	}
	return quoted(text)
}

func nonEmptyEnd(items []string) []string {
	if last := len(items) - 1; last >= 0 && items[last] == "" {
		return items[:last]
	}
	return items
}

// quoted splits text into words as xargs does: quotes and backslashes protect blanks.
func quoted(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := 0; i < len(text); i++ {
		ch := text[i]
		switch {
		case quote != 0 && ch == quote:
			quote = 0
		case quote != 0 && ch == '\n':
			return nil, fmt.Errorf("unmatched %s quote; by default quotes are special to xargs unless you use the -0 option", nameOfQuote(quote))
		case quote != 0:
			word.WriteByte(ch)
		case ch == '"' || ch == '\'':
			quote, inWord = ch, true
		case ch == '\\' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
			inWord = true
		case strings.IndexByte(" \t\n", ch) >= 0:
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteByte(ch)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("unmatched %s quote; by default quotes are special to xargs unless you use the -0 option", nameOfQuote(quote))
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

func nameOfQuote(quote byte) string {
	if quote == '"' {
		return "double"
	}
	return "single"
}

func (x *spread) run(ctx context.Context, items []string) int {
	status := 0
	for _, words := range x.calls(items) {
		if ctx.Err() != nil {
			break
		}
		if x.o.Has("t") {
			fmt.Fprintln(x.c.Err, strings.Join(words, " "))
		}
		switch found := execute(ctx, x.c, words); {
		case found == 0:
		case found == 127 || found == 126:
			return found
		case found == 255:
			return 124
		default:
			status = 123
		}
	}
	return status
}

// calls returns the words of every command to run.
func (x *spread) calls(items []string) [][]string {
	var calls [][]string
	if x.replaces() {
		mark := x.o.Value("I", x.o.Value("i", "{}"))
		if mark == "" {
			mark = "{}"
		}
		for _, item := range items {
			words := make([]string, len(x.words))
			for i, word := range x.words {
				words[i] = strings.ReplaceAll(word, mark, item)
			}
			calls = append(calls, words)
		}
		return calls
	}
	if len(items) == 0 && !x.o.Has("r") {
		return [][]string{x.words}
	}
	size := x.size
	if lines, err := strconv.Atoi(x.o.Value("L", "")); err == nil && lines > 0 {
		size = lines
	}
	if size == 0 {
		size = maxTogether
	}
	for len(items) > 0 {
		n := min(size, len(items))
		more := items[:n]
		if x.o.Has("L") {
			more = strings.Fields(strings.Join(more, " "))
		}
		calls, items = append(calls, append(append([]string{}, x.words...), more...)), items[n:]
	}
	return calls
}
