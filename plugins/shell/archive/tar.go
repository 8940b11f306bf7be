package archive

import (
	"archive/tar"
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

// archiver is one call of tar.
type archiver struct {
	c        *command.Call
	o        command.Options
	dir      string // where members are read from or written to, absolute
	members  []string
	listing  io.Writer
	status   int
	strip    int
	warned   bool
	packed   bool // gzip
	wantsOut bool // members go to the standard output
}

func tarArchive(ctx context.Context, c *command.Call) int {
	args := c.Args
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		args = append([]string{"-" + args[0]}, args[1:]...) // tar czf
	}
	o, err := command.Parse(args, "c,create x,extract,get t,list r,append u f,file: z,gzip,gunzip j,bzip2 J,xz a,auto-compress v,verbose C,directory: p O,to-stdout k,keep-old-files h,dereference ,strip-components: ,exclude: T,files-from: ,no-same-owner ,no-same-permissions ,overwrite P,absolute-names ,transform: ,wildcards ,sort: ,owner: ,group: ,mtime: ,numeric-owner ,no-recursion")
	if err != nil {
		return c.Usage(err)
	}
	a := &archiver{c: c, o: o, members: o.Operands, listing: c.Out, wantsOut: o.Has("O")}
	for _, name := range o.Values("T") {
		lines, status := c.AllLines([]string{name}, '\n')
		if status != 0 {
			return 2
		}
		a.members = append(a.members, lines...)
	}
	a.dir = c.Path(o.Value("C", "."))
	if info, err := c.Disk.Stat(a.dir); err != nil || !info.IsDir() {
		c.Fail("%s: Cannot open: No such file or directory", o.Value("C", "."))
		return 2
	}
	if a.strip, err = o.Number("strip-components", 0); err != nil {
		return c.Usage(err)
	}
	name := o.Value("f", "-")
	a.packed = o.Has("z") || o.Has("a") && (strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".tgz"))
	switch o.Last("c", "x", "t", "r", "u") {
	case "c":
		err = a.create(ctx, name)
	case "x", "t":
		err = a.read(ctx, name)
	default:
		err = errors.New("one of -c, -x and -t is needed")
	}
	if err != nil {
		c.Fail("%s", command.Reason(err))
		return 2
	}
	return a.status
}

func (a *archiver) fail(format string, args ...any) {
	a.c.Fail(format, args...)
	a.status = 2
}

// read lists or extracts an archive.
func (a *archiver) read(ctx context.Context, name string) error {
	input, err := a.c.Open(name)
	if err != nil {
		return fmt.Errorf("%s: Cannot open: %s", name, command.Reason(err))
	}
	defer input.Close()
	stream, err := unpacked(input)
	if err != nil {
		return err
	}
	found := map[string]bool{}
	for r := tar.NewReader(stream); ctx.Err() == nil; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("this does not look like a tar archive, or it is damaged: %w", err)
		}
		member, wanted := a.wanted(header.Name)
		if !wanted {
			continue
		}
		found[member] = true
		if a.o.Has("t") {
			a.list(header)
			continue
		}
		a.extract(header, r)
	}
	for _, member := range a.members {
		if !found[member] && ctx.Err() == nil {
			a.fail("%s: Not found in archive", member)
		}
	}
	return nil
}

// unpacked looks at how a stream begins and unpacks it when it is compressed.
func unpacked(input io.Reader) (io.Reader, error) {
	reader := bufio.NewReader(input)
	head, _ := reader.Peek(6)
	switch {
	case strings.HasPrefix(string(head), "\x1f\x8b"):
		return gzip.NewReader(reader)
	case strings.HasPrefix(string(head), "BZh"):
		return bzip2.NewReader(reader), nil
	case strings.HasPrefix(string(head), "\xfd7zXZ"):
		return nil, errors.New("xz archives are not available here")
	}
	return reader, nil
}

// wanted says whether a member was asked for, and by which name.
func (a *archiver) wanted(name string) (member string, wanted bool) {
	for _, glob := range a.o.Values("exclude") {
		if matches(glob, name) {
			return "", false
		}
	}
	if len(a.members) == 0 {
		return "", true
	}
	for _, member := range a.members {
		clean := strings.TrimSuffix(member, "/")
		matched, err := path.Match(clean, strings.TrimSuffix(name, "/"))
		if strings.TrimSuffix(name, "/") == clean || strings.HasPrefix(name, clean+"/") || a.o.Has("wildcards") && matched && err == nil {
			return member, true
		}
	}
	return "", false
}

// matches reports whether a glob matches a name, its last part, or a folder above it.
func matches(glob, name string) bool {
	glob = strings.TrimSuffix(glob, "/")
	for name = strings.TrimSuffix(name, "/"); name != "." && name != "/" && name != ""; name = path.Dir(name) {
		for _, part := range []string{name, strings.TrimPrefix(name, "./"), path.Base(name)} {
			if matched, err := path.Match(glob, part); err == nil && matched {
				return true
			}
		}
	}
	return false
}

func (a *archiver) list(h *tar.Header) {
	if !a.o.Has("v") {
		fmt.Fprintln(a.listing, h.Name)
		return
	}
	name := h.Name
	if h.Typeflag == tar.TypeSymlink {
		name += " -> " + h.Linkname
	}
	fmt.Fprintf(a.listing, "%s user/user %9d %s %s\n", command.ModeText(h.FileInfo().Mode()), h.Size, h.ModTime.UTC().Format("2006-01-02 15:04"), name)
}
