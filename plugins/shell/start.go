package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/interp"

	"github.com/fastreact/fastreact/plugins/shell/command"
	"github.com/fastreact/fastreact/plugins/shell/disk"
)

// maxShells bounds scripts that run scripts.
const maxShells = 24

type depthKey struct{}

// start runs a command by its words: a utility, a script, or an explanation why there is none.
func (s *session) start(ctx context.Context, c *command.Call, words []string) int {
	c = c.Named(words[0], words[1:])
	if words[0] == keeper {
		return keep(ctx, c)
	}
	if status, done := s.startFile(ctx, c); done {
		return status
	}
	name := baseOfSystem(words[0])
	if isShell(name) {
		return s.shell(ctx, c)
	}
	if tool, known := s.tools[name]; known {
		c.Name = name
		return tool(ctx, c)
	}
	if file := s.inPath(c, name); file != "" {
		return s.runFile(ctx, c, file)
	}
	_ = c.Out.Flush()
	if why, known := missing(name); known {
		fmt.Fprintln(c.Err, why)
		return statusNotFound
	}
	if interp.IsBuiltin(name) { // from xargs, env and their like
		return s.shell(ctx, c.Named("sh", append([]string{"-c", `"$@"`, "sh"}, words...)))
	}
	fmt.Fprintf(c.Err, "%s: command not found\n", name)
	return statusNotFound
}

// startFile runs a script that is named by its path.
func (s *session) startFile(ctx context.Context, c *command.Call) (status int, done bool) {
	if !strings.Contains(c.Name, "/") {
		return 0, false
	}
	file := c.Path(c.Name)
	info, err := s.disk.Stat(file)
	switch {
	case err != nil && baseOfSystem(c.Name) != c.Name:
		return 0, false
	case err != nil:
		fmt.Fprintf(c.Err, "%s: %s\n", c.Name, command.Reason(err))
		return statusNotFound, true
	case info.IsDir():
		fmt.Fprintf(c.Err, "%s: Is a directory\n", c.Name)
		return statusCannotRun, true
	}
	return s.runFile(ctx, c, file), true
}

// baseOfSystem returns the name of a program that is named in a folder of the system, such as /bin/ls.
func baseOfSystem(name string) string {
	switch path.Dir(name) {
	case "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin":
		return path.Base(name)
	}
	return name
}

// inPath looks for a script in the folders of PATH.
func (s *session) inPath(c *command.Call, name string) string {
	for _, dir := range strings.Split(c.Getenv("PATH"), ":") {
		file := disk.Abs(c.Path(dir), name)
		if info, err := s.disk.Stat(file); err == nil && info.Mode().IsRegular() && s.disk.Executable(file) {
			return file
		}
	}
	return ""
}

// runFile runs a script by its first line; without one it is a shell script.
func (s *session) runFile(ctx context.Context, c *command.Call, file string) int {
	data, err := s.disk.ReadFile(file)
	if err != nil {
		fmt.Fprintf(c.Err, "%s: %s\n", c.Name, command.Reason(err))
		return statusCannotRun
	}
	first, _, _ := bytes.Cut(data, []byte("\n"))
	if bytes.IndexByte(first, 0) >= 0 {
		fmt.Fprintf(c.Err, "%s: cannot execute binary file: this shell runs inside a sandbox without processes\n", c.Name)
		return statusCannotRun
	}
	words := interpreter(string(first))
	if len(words) == 0 {
		words = []string{"sh"}
	}
	if strings.Contains(c.Name, "/") {
		file = c.Name // $0 is what the caller wrote
	}
	return s.start(ctx, c, append(append(words, file), c.Args...))
}

// interpreter reads a first line such as #!/usr/bin/env -S awk -f.
func interpreter(line string) []string {
	text, found := strings.CutPrefix(line, "#!")
	if !found {
		return nil
	}
	words := strings.Fields(text)
	if len(words) > 1 && path.Base(words[0]) == "env" {
		words = words[1:]
		if words[0] == "-S" {
			words = words[1:]
		}
	}
	if len(words) > 0 {
		words[0] = path.Base(words[0])
	}
	return words
}

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "ash", "ksh", "zsh":
		return true
	}
	return false
}

// shell runs sh: a command text, a file, or the standard input.
func (s *session) shell(ctx context.Context, c *command.Call) int {
	depth, _ := ctx.Value(depthKey{}).(int)
	if depth >= maxShells {
		return c.Fail("scripts run scripts more than %d deep", maxShells)
	}
	ctx = context.WithValue(ctx, depthKey{}, depth+1)
	flags, rest, text, err := shellWords(c.Args)
	if err != nil {
		return c.Usage(err)
	}
	p := program{name: c.Name, dir: c.Dir, env: c.Env, in: c.In, out: c.Out, err: c.Err}
	switch {
	case text != nil:
		p.text = *text
	case len(rest) == 0:
		data, err := io.ReadAll(c.In)
		if err != nil {
			return c.Fail("%v", err)
		}
		p.text, p.in = string(data), strings.NewReader("")
	default:
		data, err := s.disk.ReadFile(c.Path(rest[0]))
		if errors.Is(err, syscall.ENOENT) {
			c.Trouble(rest[0], err)
			return statusNotFound
		}
		if err != nil {
			c.Trouble(rest[0], err)
			return statusCannotRun
		}
		p.text = string(data)
	}
	if len(rest) > 0 {
		p.name, rest = rest[0], rest[1:]
	}
	p.params = append(append(flags, "--"), rest...)
	p.out = flushing{c}
	return s.run(ctx, p)
}

// shellWords takes the words of sh apart: options for set, the operands, and the text of -c.
func shellWords(words []string) (flags, rest []string, text *string, err error) {
	for len(words) > 0 {
		word := words[0]
		switch {
		case word == "-o" && len(words) > 1:
			flags, words = append(flags, word, words[1]), words[2:]
			continue
		case word == "--" || word == "-":
			return flags, words[1:], text, nil
		case strings.HasPrefix(word, "--"): // --norc and its like
			words = words[1:]
			continue
		case len(word) < 2 || word[0] != '-':
			return flags, words, text, nil
		}
		words = words[1:]
		for _, letter := range word[1:] {
			if strings.ContainsRune("euxfan", letter) {
				flags = append(flags, "-"+string(letter))
			}
		}
		if !strings.Contains(word, "c") {
			continue
		}
		if len(words) == 0 {
			return nil, nil, nil, errors.New("-c: option requires an argument")
		}
		return flags, words[1:], &words[0], nil
	}
	return flags, words, text, nil
}

// flushing writes through to a call's output, so that what commands write stays in order.
type flushing struct{ call *command.Call }

func (f flushing) Write(data []byte) (int, error) {
	n, err := f.call.Out.Write(data)
	if err == nil {
		err = f.call.Out.Flush()
	}
	return n, err
}
