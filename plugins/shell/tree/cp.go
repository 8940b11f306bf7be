package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
	"github.com/fastreact/fastreact/plugins/shell/disk"
)

// copier is one call of cp, mv or install.
type copier struct {
	c                          *command.Call
	deep, keep, links, verbose bool
	noClobber, update, hard    bool
	status                     int
	into                       string // folder of -t
	asFile                     bool   // -T
	parents                    bool
	mode                       fs.FileMode // of install
	move                       bool
}

func cp(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "r R,recursive a,archive p ,preserve? f,force i,interactive n,no-clobber u,update v,verbose L,dereference P,no-dereference d H t,target-directory: T,no-target-directory l,link s,symbolic-link ,parents x ,no-preserve: ,reflink? ,sparse: b")
	if err != nil {
		return c.Usage(err)
	}
	if o.Has("s") {
		return c.Usage(errors.New("-s is not available; use ln -s"))
	}
	deep := o.Has("r") || o.Has("R") || o.Has("a")
	k := &copier{
		c: c, deep: deep, keep: o.Has("a") || o.Has("p") || o.Has("preserve"), verbose: o.Has("v"), noClobber: o.Has("n"), update: o.Has("u"),
		links: (deep || o.Has("P") || o.Has("d")) && !o.Has("L"), into: o.Value("t", ""), asFile: o.Has("T"), parents: o.Has("parents"), hard: o.Has("l"),
	}
	return k.run(ctx, o.Operands)
}

func mv(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "f,force i,interactive n,no-clobber u,update v,verbose t,target-directory: T,no-target-directory b")
	if err != nil {
		return c.Usage(err)
	}
	k := &copier{c: c, move: true, verbose: o.Has("v"), noClobber: o.Last("n", "f") == "n", update: o.Has("u"), into: o.Value("t", ""), asFile: o.Has("T")}
	return k.run(ctx, o.Operands)
}

// run copies or moves every operand but the last to the last.
func (k *copier) run(ctx context.Context, operands []string) int {
	target := k.into
	if target == "" {
		if len(operands) < 2 {
			return k.c.Usage(errors.New("missing file operand"))
		}
		target, operands = operands[len(operands)-1], operands[:len(operands)-1]
	}
	info, err := k.c.Disk.Stat(k.c.Path(target))
	folder := err == nil && info.IsDir() && !k.asFile
	if !folder && (len(operands) > 1 || k.into != "" || strings.HasSuffix(target, "/") && !k.isFolder(operands[0])) {
		return k.c.Fail("target '%s' is not a directory", target)
	}
	for _, name := range operands {
		to := target
		if folder {
			to = path.Join(target, path.Base(path.Clean(name)))
			if k.parents {
				to = path.Join(target, name)
				_ = k.c.Disk.MkdirAll(k.c.Path(path.Dir(to)), 0o755) // copying says what is wrong
			}
		}
		if ctx.Err() != nil {
			break
		}
		k.one(ctx, name, to)
	}
	return k.status
}

func (k *copier) isFolder(name string) bool {
	info, err := k.c.Disk.Stat(k.c.Path(name))
	return err == nil && info.IsDir()
}

func (k *copier) fail(format string, args ...any) { k.status = k.c.Fail(format, args...) }

func (k *copier) one(ctx context.Context, from, to string) {
	source, err := k.c.Disk.Lstat(k.c.Path(from))
	if err == nil && !k.links && !k.move {
		source, err = k.c.Disk.Stat(k.c.Path(from))
	}
	if err != nil {
		k.fail("cannot stat '%s': %s", from, command.Reason(err))
		return
	}
	target, err := k.c.Disk.Stat(k.c.Path(to))
	switch {
	case err == nil && disk.Same(source, target) && source.Mode()&fs.ModeSymlink == 0:
		k.fail("'%s' and '%s' are the same file", from, to)
		return
	case err == nil && (k.noClobber || k.update && !source.ModTime().After(target.ModTime())):
		return
	case source.IsDir() && within(k.c.Path(to), k.c.Path(from)):
		k.fail("cannot copy or move a directory, '%s', into itself, '%s'", from, to)
		return
	}
	if k.move {
		k.rename(from, to)
		return
	}
	if source.IsDir() && !k.deep {
		k.fail("-r not specified; omitting directory '%s'", from)
		return
	}
	k.copy(ctx, from, to, source)
}

func within(inner, outer string) bool {
	inner, outer = path.Clean(inner), path.Clean(outer)
	return inner == outer || strings.HasPrefix(inner, strings.TrimSuffix(outer, "/")+"/")
}

func (k *copier) rename(from, to string) {
	source, target := k.c.Path(from), k.c.Path(to)
	if a, err := k.c.Disk.Lstat(source); err == nil && a.IsDir() {
		if b, err := k.c.Disk.Lstat(target); err == nil && !b.IsDir() {
			k.fail("cannot overwrite non-directory '%s' with directory '%s'", to, from)
			return
		}
	}
	if err := k.c.Disk.Rename(source, target); err != nil {
		k.fail("cannot move '%s' to '%s': %s", from, to, command.Reason(err))
		return
	}
	if k.verbose {
		fmt.Fprintf(k.c.Out, "renamed '%s' -> '%s'\n", from, to)
	}
}

// copy copies a file, a link or a whole folder.
func (k *copier) copy(ctx context.Context, from, to string, info fs.FileInfo) {
	var err error
	switch {
	case ctx.Err() != nil:
		return
	case info.IsDir():
		k.folder(ctx, from, to, info)
		return
	case info.Mode()&fs.ModeSymlink != 0:
		err = k.link(from, to)
	case k.hard:
		err = k.c.Disk.Link(k.c.Path(from), k.c.Path(to))
	default:
		err = k.file(from, to, info)
	}
	if err != nil {
		k.fail("cannot copy '%s' to '%s': %s", from, to, command.Reason(err))
		return
	}
	if k.verbose {
		fmt.Fprintf(k.c.Out, "'%s' -> '%s'\n", from, to)
	}
}

func (k *copier) link(from, to string) error {
	target, err := k.c.Disk.Readlink(k.c.Path(from))
	if err == nil {
		_ = k.c.Disk.Remove(k.c.Path(to)) // a file that stands there is replaced
		err = k.c.Disk.Symlink(target, k.c.Path(to))
	}
	return err
}

func (k *copier) file(from, to string, info fs.FileInfo) error {
	input, err := k.c.Disk.Open(k.c.Path(from))
	if err != nil {
		return err
	}
	defer input.Close()
	mode := info.Mode().Perm()
	if k.mode != 0 {
		mode = k.mode
	}
	output, err := k.c.Disk.OpenFile(k.c.Path(to), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(output, input)
	if err = errors.Join(err, output.Close()); err != nil {
		return err
	}
	if k.mode != 0 {
		err = k.c.Disk.Chmod(k.c.Path(to), mode)
	}
	if k.keep && err == nil {
		err = errors.Join(k.c.Disk.Chmod(k.c.Path(to), mode), k.c.Disk.Chtimes(k.c.Path(to), info.ModTime(), info.ModTime()))
	}
	return err
}

func (k *copier) folder(ctx context.Context, from, to string, info fs.FileInfo) {
	target, err := k.c.Disk.Stat(k.c.Path(to))
	switch {
	case err == nil && !target.IsDir():
		k.fail("cannot overwrite non-directory '%s' with directory '%s'", to, from)
		return
	case err != nil:
		if err := k.c.Disk.Mkdir(k.c.Path(to), info.Mode().Perm()|0o700); err != nil {
			k.fail("cannot create directory '%s': %s", to, command.Reason(err))
			return
		}
	}
	if k.verbose {
		fmt.Fprintf(k.c.Out, "'%s' -> '%s'\n", from, to)
	}
	entries, err := k.c.Disk.ReadDir(k.c.Path(from))
	if err != nil {
		k.fail("cannot access '%s': %s", from, command.Reason(err))
		return
	}
	for _, entry := range entries {
		below := path.Join(from, entry.Name())
		more, err := k.c.Disk.Lstat(k.c.Path(below))
		if err == nil && !k.links {
			more, err = k.c.Disk.Stat(k.c.Path(below))
		}
		if err != nil {
			k.fail("cannot stat '%s': %s", below, command.Reason(err))
			continue
		}
		k.copy(ctx, below, path.Join(to, entry.Name()), more)
	}
	if k.keep {
		_ = k.c.Disk.Chtimes(k.c.Path(to), info.ModTime(), info.ModTime()) // the copy itself is whole
	}
}

func install(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "d,directory m,mode: D v,verbose p t,target-directory: T o: g: c")
	if err != nil {
		return c.Usage(err)
	}
	mode, err := command.SymbolicMode(0o755, o.Value("m", "755"), false)
	if err != nil {
		return c.Usage(err)
	}
	if o.Has("d") {
		for _, name := range o.Operands {
			if err := c.Disk.MkdirAll(c.Path(name), mode); err != nil {
				return c.Trouble(name, err)
			}
		}
		return 0
	}
	if last := len(o.Operands) - 1; o.Has("D") && last > 0 {
		_ = c.Disk.MkdirAll(c.Path(path.Dir(o.Operands[last])), 0o755) // copying says what is wrong
	}
	k := &copier{c: c, mode: mode, verbose: o.Has("v"), into: o.Value("t", ""), asFile: o.Has("T")}
	return k.run(ctx, o.Operands)
}
