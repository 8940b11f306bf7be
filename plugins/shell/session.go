package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/fastreact/fastreact/plugins/shell/command"
	"github.com/fastreact/fastreact/plugins/shell/disk"
)

// session is one call: its disk, its output and what it can run.
type session struct {
	disk   *disk.Disk
	output *capture
	tools  command.Table
}

// Statuses with a meaning of their own.
const (
	statusSyntax    = 2
	statusCannotRun = 126
	statusNotFound  = 127
	statusPipe      = 141 // ended because nobody reads its output
)

// environment is what a command sees at first.
func environment(dir string) []string {
	return []string{
		"HOME=/", "LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin", "PWD=" + dir, "SHELL=/bin/bash", "TMPDIR=/tmp",
		"USER=user", "LOGNAME=user", "TERM=dumb", "TZ=UTC", "BASH_VERSION=5.2.0(1)-release", "OSTYPE=linux-gnu", "HOSTNAME=sandbox",
	}
}

// script runs the text that the model gave and returns its status.
func (s *session) script(ctx context.Context, text, dir string) int {
	return s.run(ctx, program{
		text: text, name: "bash", dir: dir, env: environment(dir),
		in: strings.NewReader(""), out: s.output, err: s.output,
	})
}

// program is a script with the world it runs in.
type program struct {
	text, name string
	params     []string // as set takes them
	dir        string
	env        []string
	in         io.Reader
	out, err   io.Writer
}

// run interprets a program to its end.
func (s *session) run(ctx context.Context, p program) int {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(p.text), p.name)
	if err != nil {
		fmt.Fprintf(p.err, "syntax error: %v\n", err)
		return statusSyntax
	}
	substitute(file)
	runner, err := s.runner(p)
	if err != nil {
		fmt.Fprintf(p.err, "%s: %v\n", p.name, err)
		return statusSyntax
	}
	err = runner.Run(ctx, file)
	var status interp.ExitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case ctx.Err() == nil:
		fmt.Fprintf(p.err, "%s: %v\n", p.name, err)
	}
	return 1
}

func (s *session) runner(p program) (*interp.Runner, error) {
	runner, err := interp.New(
		interp.Dir("/"), interp.Env(expand.ListEnviron(p.env...)), interp.StdIO(p.in, p.out, p.err),
		interp.Params(p.params...), interp.CallHandler(s.call),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return s.exec }),
		interp.OpenHandler(s.open), interp.ReadDirHandler2(s.readDir), interp.StatHandler(s.stat),
		interp.AccessHandler(s.access),
	)
	if err != nil {
		return nil, err
	}
	runner.Dir = p.dir // the option would look for it outside the disk
	return runner, nil
}

// exec runs what is neither a function nor built into the interpreter.
func (s *session) exec(ctx context.Context, words []string) error {
	world := interp.HandlerCtx(ctx)
	c := &command.Call{
		In: world.Stdin, Out: bufio.NewWriterSize(world.Stdout, 32<<10), Err: world.Stderr,
		Dir: world.Dir, Disk: s.disk, Env: exported(world.Env), Run: s.start,
	}
	if c.In == nil {
		c.In = strings.NewReader("")
	}
	status := s.start(ctx, c, words)
	if err := c.Out.Flush(); err != nil && status == 0 {
		status = s.unwritten(c, words[0], err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if status != 0 {
		return interp.ExitStatus(uint8(status))
	}
	return nil
}

// unwritten explains output that was lost, unless it is only that nobody reads it.
func (s *session) unwritten(c *command.Call, name string, err error) int {
	if broken(err) {
		return statusPipe
	}
	fmt.Fprintf(c.Err, "%s: write error: %s\n", name, command.Reason(err))
	return 1
}

func exported(env expand.Environ) []string {
	values := map[string]string{}
	env.Each(func(name string, v expand.Variable) bool {
		delete(values, name)
		if v.Exported && v.Kind == expand.String {
			values[name] = v.Str
		}
		return true
	})
	list := make([]string, 0, len(values))
	for name, value := range values {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

func (s *session) open(ctx context.Context, name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
	world := interp.HandlerCtx(ctx)
	switch name {
	case "/dev/stdin", "/dev/fd/0":
		return stream{Reader: world.Stdin}, nil
	case "/dev/stdout", "/dev/fd/1", "/dev/tty":
		return stream{Writer: world.Stdout}, nil
	case "/dev/stderr", "/dev/fd/2":
		return stream{Writer: world.Stderr}, nil
	}
	file, err := s.disk.OpenFile(disk.Abs(world.Dir, name), flag, perm)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: errors.New(command.Reason(err))}
	}
	return file, nil
}

// stream is a standard stream opened by name. Closing it leaves it open.
type stream struct {
	io.Reader
	io.Writer
}

func (s stream) Read(data []byte) (int, error) {
	if s.Reader == nil {
		return 0, io.EOF
	}
	return s.Reader.Read(data)
}

func (s stream) Write(data []byte) (int, error) {
	if s.Writer == nil {
		return 0, fs.ErrInvalid
	}
	return s.Writer.Write(data)
}

func (stream) Close() error { return nil }

func (s *session) readDir(_ context.Context, name string) ([]fs.DirEntry, error) {
	return s.disk.ReadDir(name)
}

func (s *session) stat(ctx context.Context, name string, follow bool) (fs.FileInfo, error) {
	name = disk.Abs(interp.HandlerCtx(ctx).Dir, name)
	if follow {
		return s.disk.Stat(name)
	}
	return s.disk.Lstat(name)
}

// access lets everything be read and written: the host decides.
func (s *session) access(_ context.Context, name string, mode interp.AccessMode) error {
	info, err := s.disk.Stat(name)
	if err != nil {
		return err
	}
	if mode&interp.AccessExec != 0 && !info.IsDir() && !s.disk.Executable(name) {
		return fs.ErrPermission
	}
	return nil
}
