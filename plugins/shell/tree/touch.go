package tree

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

func touch(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "a c,no-create m d,date: t: r,reference: h f")
	if err == nil && len(o.Operands) == 0 {
		err = errors.New("missing file operand")
	}
	if err != nil {
		return c.Usage(err)
	}
	when, err := touchTime(c, o)
	if err != nil {
		return c.Usage(err)
	}
	status := 0
	for _, name := range o.Operands {
		full := c.Path(name)
		_, err := c.Disk.Stat(full)
		if errors.Is(err, fs.ErrNotExist) {
			if o.Has("c") {
				continue
			}
			err = c.Disk.WriteFile(full, nil, 0o644)
		}
		if err == nil {
			err = c.Disk.Chtimes(full, when, when)
		}
		if err != nil {
			status = c.Fail("cannot touch '%s': %s", name, command.Reason(err))
		}
	}
	return status
}

func touchTime(c *command.Call, o command.Options) (time.Time, error) {
	now := time.Now().UTC()
	switch o.Last("d", "t", "r") {
	case "d":
		return command.ReadTime(o.Value("d", ""), now)
	case "r":
		info, err := c.Disk.Stat(c.Path(o.Value("r", "")))
		if err != nil {
			return now, fmt.Errorf("failed to get attributes of '%s': %s", o.Value("r", ""), command.Reason(err))
		}
		return info.ModTime(), nil
	case "t":
		return stamp(o.Value("t", ""), now)
	}
	return now, nil
}

// stamp reads [[CC]YY]MMDDhhmm[.ss].
func stamp(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{"200601021504.05", "200601021504", "0601021504.05", "0601021504", "01021504"} {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if t.Year() == 0 {
			t = t.AddDate(now.Year(), 0, 0)
		}
		return t, nil
	}
	return now, fmt.Errorf("invalid date format '%s'", text)
}

func chmod(_ context.Context, c *command.Call) int {
	args := c.Args
	if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.IndexByte("rwxXst", args[0][1]) >= 0 {
		args = append([]string{"--", "a" + args[0]}, args[1:]...) // chmod -x file
	}
	o, err := command.Parse(args, "R,recursive v,verbose f,silent,quiet c,changes ,reference:")
	if err == nil && len(o.Operands) < 2 {
		err = errors.New("missing operand")
	}
	if err != nil {
		return c.Usage(err)
	}
	status := 0
	for _, name := range o.Operands[1:] {
		status = max(status, changeMode(c, o, name))
	}
	return status
}

func changeMode(c *command.Call, o command.Options, name string) int {
	info, err := c.Disk.Lstat(c.Path(name))
	if err != nil {
		return c.Fail("cannot access '%s': %s", name, command.Reason(err))
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if info, err = c.Disk.Stat(c.Path(name)); err != nil {
			return c.Fail("cannot operate on dangling symlink '%s'", name)
		}
	}
	mode, err := command.SymbolicMode(info.Mode().Perm(), o.Operands[0], info.IsDir())
	if err != nil {
		return c.Usage(err)
	}
	if err := c.Disk.Chmod(c.Path(name), mode); err != nil {
		return c.Fail("changing permissions of '%s': %s", name, command.Reason(err))
	}
	if !info.IsDir() || !o.Has("R") {
		return 0
	}
	entries, err := c.Disk.ReadDir(c.Path(name))
	if err != nil {
		return c.Trouble(name, err)
	}
	status := 0
	for _, entry := range entries {
		if entry.Type()&fs.ModeSymlink == 0 {
			status = max(status, changeMode(c, o, path.Join(name, entry.Name())))
		}
	}
	return status
}

func mktemp(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "d,directory q,quiet u,dry-run p,tmpdir? t ,suffix:")
	if err != nil {
		return c.Usage(err)
	}
	pattern := "tmp.XXXXXXXXXX"
	dir := c.Getenv("TMPDIR")
	operands := o.Operands
	if o.Has("p") && o.Value("p", "") == "" && len(operands) > 0 && !strings.Contains(operands[0], "XXX") {
		dir, operands = operands[0], operands[1:] // -p DIR
	} else if o.Value("p", "") != "" {
		dir = o.Value("p", "")
	}
	if len(operands) > 0 {
		pattern = operands[0]
		if !o.Has("p") && !o.Has("t") {
			dir = ""
		}
	}
	pattern += o.Value("suffix", "")
	last := strings.LastIndex(pattern, "XXX")
	if last < 0 {
		return c.Fail("too few X's in template '%s'", pattern)
	}
	end := last + 3
	start := len(strings.TrimRight(pattern[:end], "X"))
	for range 100 {
		name := path.Join(dir, pattern[:start]+rand.Text()[:min(26, end-start)]+pattern[end:])
		if _, err := c.Disk.Lstat(c.Path(name)); err == nil {
			continue
		}
		switch {
		case o.Has("u"):
		case o.Has("d"):
			err = c.Disk.Mkdir(c.Path(name), 0o700)
		default:
			err = c.Disk.WriteFile(c.Path(name), nil, 0o600)
		}
		if err != nil {
			return c.Fail("failed to create via template '%s': %s", pattern, command.Reason(err))
		}
		fmt.Fprintln(c.Out, name)
		return 0
	}
	return c.Fail("no free name for '%s'", pattern)
}

func truncate(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "s,size: c,no-create r,reference: o")
	if err == nil && (len(o.Operands) == 0 || !o.Has("s")) {
		err = errors.New("you must specify a size and a file")
	}
	if err != nil {
		return c.Usage(err)
	}
	text := o.Value("s", "")
	sign := byte(0)
	if text != "" && (text[0] == '+' || text[0] == '-') {
		sign, text = text[0], text[1:]
	}
	size, err := command.Size(text)
	if err != nil {
		return c.Usage(err)
	}
	for _, name := range o.Operands {
		full, wanted := c.Path(name), size
		info, err := c.Disk.Stat(full)
		switch {
		case errors.Is(err, fs.ErrNotExist) && o.Has("c"):
			continue
		case errors.Is(err, fs.ErrNotExist):
			err = c.Disk.WriteFile(full, nil, 0o644)
		case err == nil && sign == '+':
			wanted += info.Size()
		case err == nil && sign == '-':
			wanted = max(0, info.Size()-size)
		}
		if err == nil {
			err = c.Disk.Truncate(full, wanted)
		}
		if err != nil {
			return c.Fail("failed to truncate '%s': %s", name, command.Reason(err))
		}
	}
	return 0
}

func sync(context.Context, *command.Call) int { return 0 }
