package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

func rm(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "r R,recursive f,force i I v,verbose d,dir ,interactive? ,one-file-system ,no-preserve-root ,preserve-root?")
	if err != nil {
		return c.Usage(err)
	}
	if len(o.Operands) == 0 && !o.Has("f") {
		return c.Usage(errors.New("missing operand"))
	}
	r := &remover{c: c, deep: o.Has("r") || o.Has("R"), force: o.Has("f"), verbose: o.Has("v"), empty: o.Has("d")}
	for _, name := range o.Operands {
		r.operand(ctx, name)
	}
	return r.status
}

// remover is one call of rm.
type remover struct {
	c                           *command.Call
	deep, force, verbose, empty bool
	status                      int
}

func (r *remover) operand(ctx context.Context, name string) {
	base := path.Base(name)
	if name != "/" && (base == "." || base == "..") {
		r.status = r.c.Fail("refusing to remove '.' or '..' directory: skipping '%s'", name)
		return
	}
	info, err := r.c.Disk.Lstat(r.c.Path(name))
	switch {
	case err != nil && r.force && errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		r.status = r.c.Fail("cannot remove '%s': %s", name, command.Reason(err))
	case path.Clean(r.c.Path(name)) == "/":
		r.status = r.c.Fail("it is dangerous to operate recursively on '/'; name what is in it, or use find / -mindepth 1 -delete")
	case info.IsDir() && !r.deep && !r.empty:
		r.status = r.c.Fail("cannot remove '%s': Is a directory", name)
	default:
		r.remove(ctx, name, info.IsDir() && r.deep)
	}
}

func (r *remover) remove(ctx context.Context, name string, folder bool) {
	if ctx.Err() != nil {
		return
	}
	if folder {
		entries, err := r.c.Disk.ReadDir(r.c.Path(name))
		if err != nil {
			r.status = r.c.Fail("cannot remove '%s': %s", name, command.Reason(err))
			return
		}
		for _, entry := range entries {
			r.remove(ctx, path.Join(name, entry.Name()), entry.IsDir())
		}
	}
	if err := r.c.Disk.Remove(r.c.Path(name)); err != nil {
		r.status = r.c.Fail("cannot remove '%s': %s", name, command.Reason(err))
		return
	}
	if r.verbose {
		fmt.Fprintf(r.c.Out, "removed '%s'\n", name)
	}
}

func mkdir(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "p,parents m,mode: v,verbose")
	if err == nil && len(o.Operands) == 0 {
		err = errors.New("missing operand")
	}
	if err != nil {
		return c.Usage(err)
	}
	mode, err := command.SymbolicMode(0o755, o.Value("m", "755"), true)
	if err != nil {
		return c.Usage(err)
	}
	status := 0
	for _, name := range o.Operands {
		make := c.Disk.Mkdir
		if o.Has("p") {
			make = c.Disk.MkdirAll
		}
		if err := make(c.Path(name), mode); err != nil {
			status = c.Fail("cannot create directory '%s': %s", name, command.Reason(err))
			continue
		}
		if o.Has("v") {
			fmt.Fprintf(c.Out, "mkdir: created directory '%s'\n", name)
		}
	}
	return status
}

func rmdir(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "p,parents v,verbose ,ignore-fail-on-non-empty")
	if err == nil && len(o.Operands) == 0 {
		err = errors.New("missing operand")
	}
	if err != nil {
		return c.Usage(err)
	}
	status := 0
	for _, name := range o.Operands {
		for name = strings.TrimSuffix(name, "/"); name != "." && name != ""; name = path.Dir(name) {
			info, err := c.Disk.Lstat(c.Path(name))
			if err == nil && !info.IsDir() {
				err = syscall.ENOTDIR
			}
			if err == nil {
				err = c.Disk.Remove(c.Path(name))
			}
			if err != nil {
				status = c.Fail("failed to remove '%s': %s", name, command.Reason(err))
				break
			}
			if !o.Has("p") || name == "/" {
				break
			}
		}
	}
	return status
}
