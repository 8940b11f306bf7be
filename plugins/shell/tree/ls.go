package tree

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// lister is one call of ls.
type lister struct {
	c      *command.Call
	o      command.Options
	status int
	titled bool // a title stands before each folder
	first  bool
}

// item is one line of ls.
type item struct {
	name string
	info fs.FileInfo
}

func ls(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "l a,all A,almost-all 1 R,recursive t S r,reverse h,human-readable d,directory F,classify? p i,inode s,size n,numeric-uid-gid o g G,no-group X v U m Q,quote-name L,dereference H N,literal B k C x b u c ,color? ,sort: ,time-style: ,full-time ,group-directories-first ,time: ,format: I,ignore: w:")
	if err != nil {
		return c.Usage(err)
	}
	l := &lister{c: c, o: o, first: true}
	names := o.Operands
	if len(names) == 0 {
		names = []string{"."}
	}
	var files, folders []item
	for _, name := range names {
		info, err := l.stat(name)
		if err != nil {
			l.status = 2
			c.Fail("cannot access '%s': %s", name, command.Reason(err))
			continue
		}
		if info.IsDir() && !o.Has("d") {
			folders = append(folders, item{name, info})
		} else {
			files = append(files, item{name, info})
		}
	}
	l.sort(files)
	l.sort(folders)
	l.print(files, "")
	l.first = len(files) == 0
	l.titled = len(names) > 1 || o.Has("R")
	for _, folder := range folders {
		l.folder(ctx, folder.name)
	}
	return l.status
}

// stat follows a link that is named, unless it is to be described itself.
func (l *lister) stat(name string) (fs.FileInfo, error) {
	info, err := l.c.Disk.Lstat(l.c.Path(name))
	if err == nil && info.Mode()&fs.ModeSymlink != 0 && (l.o.Has("L") || l.o.Has("H") || !l.long() && !l.o.Has("d") && !l.o.Has("F")) {
		if behind, err := l.c.Disk.Stat(l.c.Path(name)); err == nil {
			return behind, nil
		}
	}
	return info, err
}

func (l *lister) long() bool {
	return l.o.Has("l") || l.o.Has("n") || l.o.Has("o") || l.o.Has("g") || l.o.Has("full-time")
}

func (l *lister) folder(ctx context.Context, name string) {
	if ctx.Err() != nil {
		return
	}
	entries, err := l.c.Disk.ReadDir(l.c.Path(name))
	if err != nil {
		l.status = 2
		l.c.Fail("cannot open directory '%s': %s", name, command.Reason(err))
		return
	}
	items := l.dots(name)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") && !l.o.Has("a") && !l.o.Has("A") || l.ignored(entry.Name()) {
			continue
		}
		full := path.Join(l.c.Path(name), entry.Name())
		info, err := l.c.Disk.Lstat(full)
		if err == nil && l.o.Has("L") {
			if behind, wrong := l.c.Disk.Stat(full); wrong == nil {
				info = behind
			}
		}
		if err == nil {
			items = append(items, item{entry.Name(), info})
		}
	}
	l.sort(items)
	if !l.first {
		fmt.Fprintln(l.c.Out)
	}
	if l.titled {
		fmt.Fprintf(l.c.Out, "%s:\n", name)
	}
	l.first = false
	if l.long() || l.o.Has("s") {
		fmt.Fprintf(l.c.Out, "total %s\n", l.total(items))
	}
	l.print(items, name)
	if l.o.Has("R") {
		for _, below := range items {
			if below.info.IsDir() && below.name != "." && below.name != ".." {
				l.folder(ctx, strings.TrimSuffix(name, "/")+"/"+below.name)
			}
		}
	}
}

func (l *lister) dots(name string) []item {
	if !l.o.Has("a") {
		return nil
	}
	var items []item
	for _, dot := range []string{".", ".."} {
		if info, err := l.c.Disk.Stat(path.Join(l.c.Path(name), dot)); err == nil {
			items = append(items, item{dot, info})
		}
	}
	return items
}

func (l *lister) ignored(name string) bool {
	for _, glob := range l.o.Values("I") {
		if matched, err := path.Match(glob, name); err == nil && matched {
			return true
		}
	}
	return l.o.Has("B") && strings.HasSuffix(name, "~")
}

func (l *lister) sort(items []item) {
	by := l.o.Last("t", "S", "X", "v", "U", "sort")
	if by == "sort" {
		by = map[string]string{"time": "t", "size": "S", "extension": "X", "version": "v", "none": "U"}[l.o.Value("sort", "")]
	}
	slices.SortStableFunc(items, func(a, b item) int {
		order := 0
		if l.o.Has("group-directories-first") {
			order = boolOrder(b.info.IsDir(), a.info.IsDir())
			if order != 0 {
				return order
			}
		}
		switch by {
		case "t":
			order = b.info.ModTime().Compare(a.info.ModTime())
		case "S":
			order = cmp.Compare(b.info.Size(), a.info.Size())
		case "X":
			order = strings.Compare(path.Ext(a.name), path.Ext(b.name))
		}
		order = cmp.Or(order, strings.Compare(a.name, b.name))
		if l.o.Has("r") {
			return -order
		}
		return order
	})
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (l *lister) total(items []item) string {
	sum := int64(0)
	for _, one := range items {
		sum += blocks(one.info)
	}
	if l.o.Has("h") {
		return human(sum * 1024)
	}
	return fmt.Sprint(sum)
}

// blocks is the room a file takes in KiB, counted in blocks of 4.
func blocks(info fs.FileInfo) int64 {
	if info.IsDir() {
		return 4
	}
	return (info.Size() + 4095) / 4096 * 4
}

// human writes a number of bytes with a unit, rounded up as others do.
func human(n int64) string {
	if n < 1024 {
		return fmt.Sprint(n)
	}
	value, unit := float64(n), 0
	for value >= 1024 && unit < 6 {
		value /= 1024
		unit++
	}
	letter := "KMGTPE"[unit-1 : unit]
	if rounded := ceil(value * 10); rounded < 100 {
		return fmt.Sprintf("%.1f%s", float64(rounded)/10, letter)
	}
	return fmt.Sprintf("%d%s", ceil(value), letter)
}

func ceil(value float64) int64 {
	whole := int64(value)
	if float64(whole) < value {
		whole++
	}
	return whole
}

// print writes items, one on a line.
func (l *lister) print(items []item, dir string) {
	if len(items) == 0 {
		return
	}
	if l.o.Has("m") {
		var names []string
		for _, one := range items {
			names = append(names, l.marked(one))
		}
		fmt.Fprintln(l.c.Out, strings.Join(names, ", "))
		return
	}
	width := 1
	for _, one := range items {
		width = max(width, utf8.RuneCountInString(l.size(one.info)))
	}
	for _, one := range items {
		line := ""
		if l.o.Has("i") {
			line += "0 "
		}
		if l.o.Has("s") {
			line += fmt.Sprintf("%d ", blocks(one.info))
		}
		if l.long() {
			line += l.details(one, width)
		}
		line += l.marked(one)
		if l.long() && one.info.Mode()&fs.ModeSymlink != 0 {
			target, err := l.c.Disk.Readlink(l.c.Path(path.Join(dir, one.name)))
			if err != nil {
				target = "? (outside the workspace)"
			}
			line += " -> " + target
		}
		if l.c.Print(line, '\n') != nil {
			return
		}
	}
}

func (l *lister) size(info fs.FileInfo) string {
	if l.o.Has("h") {
		return human(info.Size())
	}
	return fmt.Sprint(info.Size())
}

func (l *lister) details(one item, width int) string {
	owner, group := "user ", "user "
	if l.o.Has("n") {
		owner, group = "1000 ", "1000 "
	}
	if l.o.Has("g") {
		owner = ""
	}
	if l.o.Has("o") || l.o.Has("G") {
		group = ""
	}
	return fmt.Sprintf("%s 1 %s%s%*s %s ", command.ModeText(one.info.Mode()), owner, group, width, l.size(one.info), l.when(one.info.ModTime().UTC()))
}

func (l *lister) when(t time.Time) string {
	style := l.o.Value("time-style", "")
	switch {
	case l.o.Has("full-time") || style == "full-iso":
		return t.Format("2006-01-02 15:04:05.000000000 -0700")
	case style == "long-iso":
		return t.Format("2006-01-02 15:04")
	case style == "iso":
		return t.Format("01-02 15:04")
	case strings.HasPrefix(style, "+"):
		return command.FormatTime(style[1:], t)
	}
	now := time.Now()
	if t.Before(now.AddDate(0, -6, 0)) || t.After(now.Add(time.Hour)) {
		return t.Format("Jan _2  2006")
	}
	return t.Format("Jan _2 15:04")
}

// marked is a name with the mark of its kind, and quotes, when asked for.
func (l *lister) marked(one item) string {
	name := one.name
	if l.o.Has("Q") {
		name = fmt.Sprintf("%q", name)
	}
	switch {
	case one.info.IsDir() && (l.o.Has("F") || l.o.Has("p")):
		return name + "/"
	case !l.o.Has("F"):
		return name
	case one.info.Mode()&fs.ModeSymlink != 0 && !l.long():
		return name + "@"
	case one.info.Mode().IsRegular() && one.info.Mode()&0o111 != 0:
		return name + "*"
	}
	return name
}

func discard() *bufio.Writer { return bufio.NewWriter(io.Discard) }
