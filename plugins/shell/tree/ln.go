package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
	"github.com/fastreact/fastreact/plugins/shell/disk"
)

func ln(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "s,symbolic f,force n,no-dereference v,verbose r,relative T,no-target-directory t,target-directory: i b P L")
	if err == nil && len(o.Operands) == 0 {
		err = errors.New("missing file operand")
	}
	if err != nil {
		return c.Usage(err)
	}
	sources, target := o.Operands, o.Value("t", "")
	switch {
	case target != "":
	case len(sources) == 1:
		target = "."
	default:
		target, sources = sources[len(sources)-1], sources[:len(sources)-1]
	}
	look := c.Disk.Stat
	if o.Has("n") {
		look = c.Disk.Lstat
	}
	info, err := look(c.Path(target))
	folder := err == nil && info.IsDir() && !o.Has("T")
	if !folder && len(sources) > 1 {
		return c.Fail("target '%s' is not a directory", target)
	}
	status := 0
	for _, source := range sources {
		name := target
		if folder {
			name = path.Join(target, path.Base(source))
		}
		if err := makeLink(c, o, source, name); err != nil {
			status = c.Fail("failed to create link '%s' -> '%s': %s", name, source, command.Reason(err))
		} else if o.Has("v") {
			fmt.Fprintf(c.Out, "'%s' -> '%s'\n", name, source)
		}
	}
	return status
}

func makeLink(c *command.Call, o command.Options, source, name string) error {
	if o.Has("f") {
		if err := c.Disk.Remove(c.Path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if !o.Has("s") {
		return c.Disk.Link(c.Path(source), c.Path(name))
	}
	if o.Has("r") {
		source = c.Path(source)
	}
	return c.Disk.Symlink(source, c.Path(name))
}

func readlink(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "f,canonicalize e,canonicalize-existing m,canonicalize-missing n,no-newline q s v z")
	if err == nil && len(o.Operands) == 0 {
		err = errors.New("missing operand")
	}
	if err != nil {
		return c.Usage(err)
	}
	status := 0
	for _, name := range o.Operands {
		text, err := "", error(nil)
		if o.Last("f", "e", "m") != "" {
			text, err = resolve(c, name, !o.Has("m"), o.Has("e"))
		} else {
			text, err = c.Disk.Readlink(c.Path(name))
		}
		if err != nil {
			status = 1
			continue
		}
		_, _ = c.Out.WriteString(text)
		if !o.Has("n") {
			fmt.Fprintln(c.Out)
		}
	}
	return status
}

func realpath(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "e,canonicalize-existing m,canonicalize-missing s,strip,no-symlinks q,quiet z,zero ,relative-to: ,relative-base: L P")
	if err == nil && len(o.Operands) == 0 {
		err = errors.New("missing operand")
	}
	if err != nil {
		return c.Usage(err)
	}
	status := 0
	for _, name := range o.Operands {
		full := path.Clean(c.Path(name))
		if !o.Has("s") {
			if full, err = resolve(c, name, !o.Has("m"), o.Has("e")); err != nil {
				status = c.Trouble(name, err)
				continue
			}
		}
		if base := o.Value("relative-to", ""); base != "" {
			full = disk.Relative(path.Clean(c.Path(base)), full)
		}
		fmt.Fprintln(c.Out, full)
	}
	return status
}

// resolve follows every link of a path. parents says that the folders must exist, all that the file must too.
func resolve(c *command.Call, name string, parents, all bool) (string, error) {
	if name == "" {
		return "", fs.ErrNotExist
	}
	rest := strings.Split(strings.Trim(c.Path(name), "/"), "/")
	at := "/"
	for hops := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		if part == "" || part == "." {
			continue
		}
		next := path.Join(at, part)
		info, err := c.Disk.Lstat(next)
		if err != nil && (all || parents && len(rest) > 0) {
			return "", err
		}
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			target, err := c.Disk.Readlink(next)
			if hops++; hops > 40 {
				err = errors.New("too many levels of symbolic links")
			}
			if err != nil {
				return "", err
			}
			rest = append(strings.Split(target, "/"), rest...)
			continue
		}
		at = next
	}
	return at, nil
}
