package shell

import (
	"context"
	"errors"
	"io"
	"runtime"
	"syscall"

	"mvdan.cc/sh/v3/interp"

	"github.com/fastreact/fastreact/plugins/shell/sundry"
)

// call looks at every simple command before it runs, and may put another in its place.
func (s *session) call(ctx context.Context, words []string) ([]string, error) {
	runtime.Gosched() // one thread: let the other ends of pipes and the clock have their turn
	world := interp.HandlerCtx(ctx)
	pipe, is := world.Stdout.(interface{ Broken() bool })
	if is && writes(words[0]) && pipe.Broken() {
		return []string{"exit", "141"}, nil // as a signal would end it elsewhere
	}
	switch words[0] {
	case "kill", "jobs", "bg", "fg", "disown", "ulimit", "umask", "fc", "newgrp", "suspend", "enable", "bind", "complete", "compgen", "caller", "history", "logout":
		return append([]string{"/bin/" + words[0]}, words[1:]...), nil
	case "printf":
		if len(words) > 3 && words[1] == "-v" {
			text, _ := sundry.Format(words[3], words[4:])
			return []string{"eval", words[2] + "=" + sundry.Quote(text)}, nil
		}
		return append([]string{"/bin/printf"}, words[1:]...), nil
	case "command":
		if len(words) == 3 && (words[1] == "-v" || words[1] == "-V") {
			return s.located(words, words[2], "")
		}
	case "type":
		if len(words) == 2 {
			return s.located(words, words[1], words[1]+" is ")
		}
		if len(words) == 3 && (words[1] == "-p" || words[1] == "-P") {
			return s.located(words, words[2], "")
		}
		if len(words) == 3 && words[1] == "-t" && s.isTool(words[2]) {
			return []string{"echo", "file"}, nil
		}
	case "hash":
		return []string{"true"}, nil
	}
	return words, nil
}

// writes reports whether a command may write to its standard output: most of what the interpreter does itself does not.
func writes(name string) bool {
	return !interp.IsBuiltin(name) || name == "echo" || name == "printf" || name == "pwd"
}

// located answers where a utility is, and leaves everything else to the interpreter.
func (s *session) located(words []string, name, before string) ([]string, error) {
	if interp.IsBuiltin(name) || !s.isTool(name) {
		return words, nil
	}
	return []string{"echo", before + "/usr/bin/" + name}, nil
}

func (s *session) isTool(name string) bool {
	_, known := s.tools[name]
	return known || isShell(name)
}

// broken reports whether a write failed because nobody reads any more.
func broken(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, errFlood)
}
