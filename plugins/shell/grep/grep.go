// Package grep prints the lines that match a regular expression.
package grep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
	"github.com/fastreact/fastreact/plugins/shell/regex"
)

// Table returns the utilities by name.
func Table() command.Table {
	return command.Table{"grep": run, "egrep": run, "fgrep": run, "rgrep": run, "zgrep": run}
}

const options = "e,regexp: f,file: E,extended-regexp F,fixed-strings G,basic-regexp P,perl-regexp i,ignore-case y v,invert-match " +
	"w,word-regexp x,line-regexp c,count l,files-with-matches L,files-without-match o,only-matching q,quiet,silent s,no-messages " +
	"n,line-number H,with-filename h,no-filename b,byte-offset m,max-count: A,after-context: B,before-context: C,context: " +
	"r,recursive R,dereference-recursive a,text I ,include: ,exclude: ,exclude-dir: ,color? ,colour? ,binary-files: z,null-data Z,null " +
	"T ,line-buffered ,label: ,no-ignore-case"

// search is one call.
type search struct {
	c             *command.Call
	o             command.Options
	patterns      []*regexp.Regexp
	names         bool
	before, after int
	limit         int
	matched       bool
	failed        bool
}

func run(ctx context.Context, c *command.Call) int {
	args := c.Args
	for i, arg := range args { // -5 is -C 5
		if len(arg) > 1 && arg[0] == '-' && strings.Trim(arg[1:], "0123456789") == "" {
			args = append(append(append([]string{}, args[:i]...), "-C", arg[1:]), args[i+1:]...)
			break
		}
		if arg == "--" {
			break
		}
	}
	o, err := command.Parse(args, options)
	if err != nil {
		return c.Usage(err)
	}
	s := &search{c: c, o: o}
	files, err := s.prepare()
	if err != nil {
		return c.Usage(err)
	}
	s.walk(ctx, files)
	_ = c.Out.Flush()
	switch {
	case s.failed && !(s.matched && o.Has("q")):
		return 2
	case s.matched:
		return 0
	}
	return 1
}

func (s *search) prepare() (files []string, err error) {
	files = s.o.Operands
	texts := s.o.Values("e")
	for _, name := range s.o.Values("f") {
		lines, status := s.c.AllLines([]string{name}, '\n')
		if status != 0 {
			return nil, fmt.Errorf("%s: cannot be read", name)
		}
		texts = append(texts, lines...)
	}
	if !s.o.Has("e") && !s.o.Has("f") {
		if len(files) == 0 {
			return nil, errors.New("a pattern is needed")
		}
		texts, files = files[:1], files[1:]
	}
	if err := s.compile(texts); err != nil {
		return nil, err
	}
	context, err := s.o.Number("C", 0)
	if err == nil {
		s.before, err = s.o.Number("B", context)
	}
	if err == nil {
		s.after, err = s.o.Number("A", context)
	}
	if err == nil {
		s.limit, err = s.o.Number("m", -1)
	}
	recursive := s.recursive()
	if len(files) == 0 {
		files = []string{"-"}
		if recursive {
			files = []string{"."}
		}
	}
	s.names = (len(files) > 1 || recursive) && !s.o.Has("h") || s.o.Last("H", "h") == "H"
	return files, err
}

func (s *search) recursive() bool { return s.o.Has("r") || s.o.Has("R") || s.c.Name == "rgrep" }

func (s *search) compile(texts []string) error {
	syntax := regex.Syntax{
		Fixed: s.o.Has("F") || s.c.Name == "fgrep", Extended: s.o.Has("E") || s.c.Name == "egrep", Perl: s.o.Has("P"),
		Fold: s.o.Has("i") || s.o.Has("y"),
	}
	for _, text := range strings.Split(strings.Join(texts, "\n"), "\n") {
		pattern, err := regex.Compile(text, syntax)
		if err != nil {
			return err
		}
		source := pattern.String()
		if s.o.Has("x") {
			source = `^(?:` + source + `)$`
		} else if s.o.Has("w") {
			source = `(?:^|\b|\W)(?P<word>` + source + `)(?:$|\b|\W)`
		}
		if source != pattern.String() {
			if pattern, err = regexp.Compile(source); err != nil {
				return err
			}
			if !s.o.Has("w") {
				pattern.Longest()
			}
		}
		s.patterns = append(s.patterns, pattern)
	}
	return nil
}

// walk searches every file named, and below folders when asked to.
func (s *search) walk(ctx context.Context, files []string) {
	for _, name := range files {
		if ctx.Err() != nil || s.done() {
			return
		}
		info, err := s.c.Disk.Stat(s.c.Path(name))
		if name != "-" && err == nil && info.IsDir() {
			if s.recursive() {
				s.folder(ctx, name)
			} else {
				s.complain(name, "Is a directory")
			}
			continue
		}
		s.file(name)
	}
}

// done reports whether the answer is known already.
func (s *search) done() bool { return s.o.Has("q") && s.matched }

func (s *search) folder(ctx context.Context, name string) {
	entries, err := s.c.Disk.ReadDir(s.c.Path(name))
	if err != nil {
		s.complain(name, command.Reason(err))
		return
	}
	for _, entry := range entries {
		below := path.Join(name, entry.Name())
		if name == "." && len(s.o.Operands) > 0 && s.given(".") || strings.HasPrefix(name, "./") {
			below = "./" + strings.TrimPrefix(below, "./")
		}
		switch {
		case ctx.Err() != nil || s.done():
			return
		case entry.IsDir():
			if !matchesAny(s.o.Values("exclude-dir"), entry.Name()) {
				s.folder(ctx, below)
			}
		case entry.Type()&fs.ModeSymlink != 0 && !s.o.Has("R"):
		case s.wanted(entry.Name()):
			s.file(below)
		}
	}
}

func (s *search) given(name string) bool {
	for _, operand := range s.o.Operands {
		if operand == name {
			return true
		}
	}
	return false
}

func (s *search) wanted(name string) bool {
	if include := s.o.Values("include"); len(include) > 0 && !matchesAny(include, name) {
		return false
	}
	return !matchesAny(s.o.Values("exclude"), name)
}

func matchesAny(globs []string, name string) bool {
	for _, glob := range globs {
		if matched, err := path.Match(strings.TrimSuffix(glob, "/"), name); err == nil && matched {
			return true
		}
	}
	return false
}

func (s *search) complain(name, reason string) {
	s.failed = true
	if !s.o.Has("s") {
		s.c.Fail("%s: %s", name, reason)
	}
}

func (s *search) file(name string) {
	input, err := s.c.Open(name)
	if err != nil {
		s.complain(name, command.Reason(err))
		return
	}
	defer input.Close()
	if err := s.scan(name, input); err != nil && !errors.Is(err, command.ErrStop) {
		s.complain(name, command.Reason(err))
	}
}

// scan searches one input.
func (s *search) scan(name string, input io.Reader) error {
	if name == "-" {
		name = s.o.Value("label", "(standard input)")
	}
	page := page{search: s, name: name}
	for line, err := range command.Lines(input, '\n') {
		if err != nil {
			return err
		}
		more, err := page.line(line.Text)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	return page.end()
}
