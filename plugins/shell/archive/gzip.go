package archive

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// zipper is one call of gzip, gunzip or zcat.
type zipper struct {
	c                          *command.Call
	unpack, toOut, keep, force bool
	level                      int
	test, verbose              bool
}

func zip(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "d,decompress,uncompress c,stdout,to-stdout k,keep f,force l,list t,test v,verbose q,quiet n,no-name N r S: 1,fast 2 3 4 5 6 7 8 9,best")
	if err != nil {
		return c.Usage(err)
	}
	z := &zipper{
		c: c, unpack: c.Name != "gzip" || o.Has("d") || o.Has("t"), toOut: c.Name == "zcat" || o.Has("c"), keep: o.Has("k"), force: o.Has("f"),
		level: gzip.DefaultCompression, test: o.Has("t"), verbose: o.Has("v"),
	}
	if level, err := strconv.Atoi(o.Last("1", "2", "3", "4", "5", "6", "7", "8", "9")); err == nil {
		z.level = level
	}
	if len(o.Operands) == 0 {
		o.Operands = []string{"-"}
	}
	status := 0
	for _, name := range o.Operands {
		if err := z.file(name); err != nil {
			status = c.Trouble(name, err)
		}
	}
	return status
}

func (z *zipper) file(name string) error {
	input, err := z.c.Open(name)
	if err != nil && z.unpack && !strings.HasSuffix(name, ".gz") {
		if input, err = z.c.Open(name + ".gz"); err == nil {
			name += ".gz"
		}
	}
	if err != nil {
		return err
	}
	defer input.Close()
	if z.toOut || name == "-" || z.test {
		var out io.Writer = z.c.Out
		if z.test {
			out = io.Discard
		}
		return z.convert(out, input)
	}
	target := name + ".gz"
	if z.unpack {
		bare, packed := strings.CutSuffix(name, ".gz")
		if tgz, is := strings.CutSuffix(name, ".tgz"); is {
			bare, packed = tgz+".tar", true
		}
		if !packed {
			return errors.New("unknown suffix -- ignored")
		}
		target = bare
	} else if strings.HasSuffix(name, ".gz") && !z.force {
		return errors.New("already has .gz suffix -- unchanged")
	}
	if _, err := z.c.Disk.Lstat(z.c.Path(target)); err == nil && !z.force {
		return fmt.Errorf("%s already exists; use -f to overwrite", target)
	}
	var data bytes.Buffer
	if err := z.convert(&data, input); err != nil {
		return err
	}
	if err := z.c.Disk.WriteFile(z.c.Path(target), data.Bytes(), 0o644); err != nil {
		return err
	}
	if z.keep {
		return nil
	}
	return z.c.Disk.Remove(z.c.Path(name))
}

func (z *zipper) convert(out io.Writer, input io.Reader) error {
	if !z.unpack {
		w, err := gzip.NewWriterLevel(out, z.level)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, input)
		return errors.Join(err, w.Close())
	}
	r, err := gzip.NewReader(input)
	if err != nil {
		return errors.New("not in gzip format")
	}
	_, err = io.Copy(out, r)
	return err
}
