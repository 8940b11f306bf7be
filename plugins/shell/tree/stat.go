package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/fastreact/fastreact/plugins/shell/command"
)

func stat(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "c,format: ,printf: L,dereference t,terse f,file-system")
	if err == nil && len(o.Operands) == 0 {
		err = errors.New("missing operand")
	}
	if err != nil {
		return c.Usage(err)
	}
	status := 0
	for _, name := range o.Operands {
		info, err := c.Disk.Lstat(c.Path(name))
		if err == nil && o.Has("L") {
			info, err = c.Disk.Stat(c.Path(name))
		}
		if err != nil {
			status = c.Fail("cannot stat '%s': %s", name, command.Reason(err))
			continue
		}
		switch o.Last("c", "printf") {
		case "c":
			fmt.Fprintln(c.Out, describe(o.Value("c", ""), name, info))
		case "printf":
			text := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(o.Value("printf", ""))
			_, _ = c.Out.WriteString(describe(text, name, info))
		default:
			_, _ = c.Out.WriteString(describe("  File: %n\n  Size: %s\tBlocks: %b\tIO Block: 4096\t%F\nAccess: (%#a/%A)\tUid: ( 1000/    user)\tGid: ( 1000/    user)\nModify: %y\n", name, info))
		}
	}
	return status
}

func describe(format, name string, info fs.FileInfo) string {
	t := info.ModTime().UTC()
	values := strings.NewReplacer(
		"%%", "%", "%n", name, "%N", "'"+name+"'", "%s", fmt.Sprint(info.Size()), "%b", fmt.Sprint(blocks(info)*2), "%B", "512", "%o", "4096",
		"%#a", fmt.Sprintf("0%o", info.Mode().Perm()), "%a", fmt.Sprintf("%o", info.Mode().Perm()), "%A", command.ModeText(info.Mode()),
		"%F", kindOf(info), "%h", "1", "%i", "0", "%u", "1000", "%g", "1000", "%U", "user", "%G", "user",
		"%y", t.Format("2006-01-02 15:04:05.000000000 -0700"), "%Y", fmt.Sprint(t.Unix()), "%x", t.Format("2006-01-02 15:04:05.000000000 -0700"),
		"%X", fmt.Sprint(t.Unix()), "%z", t.Format("2006-01-02 15:04:05.000000000 -0700"), "%Z", fmt.Sprint(t.Unix()), "%w", "-", "%W", "0",
	)
	return values.Replace(format)
}

func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeCharDevice != 0:
		return "character special file"
	case mode&fs.ModeNamedPipe != 0:
		return "fifo"
	case info.Size() == 0:
		return "regular empty file"
	}
	return "regular file"
}

func kind(_ context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "b,brief i,mime ,mime-type L h")
	if err != nil {
		return c.Usage(err)
	}
	for _, name := range o.Operands {
		text, err := content(c, name, o.Has("i") || o.Has("mime-type"))
		if err != nil {
			text = fmt.Sprintf("cannot open `%s' (%s)", name, command.Reason(err))
		}
		if !o.Has("b") {
			text = name + ": " + text
		}
		fmt.Fprintln(c.Out, text)
	}
	return 0
}

// content says what a file holds, judged by its beginning.
func content(c *command.Call, name string, mime bool) (string, error) {
	info, err := c.Disk.Stat(c.Path(name))
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return "directory", nil
	}
	input, err := c.Open(name)
	if err != nil {
		return "", err
	}
	defer input.Close()
	head := make([]byte, 512)
	n, _ := input.Read(head)
	found := sniff(string(head[:n]))
	if mime {
		return found[1], nil
	}
	return found[0], nil
}

// sniff names what text or data begins like this, in words and as a media type.
func sniff(head string) [2]string {
	for magic, found := range map[string][2]string{
		"\x1f\x8b": {"gzip compressed data", "application/gzip"}, "PK\x03\x04": {"Zip archive data", "application/zip"},
		"\x89PNG": {"PNG image data", "image/png"}, "\xff\xd8\xff": {"JPEG image data", "image/jpeg"}, "GIF8": {"GIF image data", "image/gif"},
		"%PDF": {"PDF document", "application/pdf"}, "\x7fELF": {"ELF binary", "application/x-executable"}, "\x00asm": {"WebAssembly binary", "application/wasm"},
	} {
		if strings.HasPrefix(head, magic) {
			return found
		}
	}
	switch {
	case head == "":
		return [2]string{"empty", "inode/x-empty"}
	case strings.IndexByte(head, 0) >= 0 || !utf8.ValidString(head) && len(head) < 500:
		return [2]string{"data", "application/octet-stream"}
	case strings.HasPrefix(head, "#!"):
		return [2]string{"script, text executable", "text/x-shellscript"}
	case strings.HasPrefix(head, "{") || strings.HasPrefix(head, "["):
		return [2]string{"JSON text data", "application/json"}
	case strings.IndexFunc(head, func(r rune) bool { return r > 126 }) >= 0:
		return [2]string{"Unicode text, UTF-8 text", "text/plain"}
	}
	return [2]string{"ASCII text", "text/plain"}
}

// meter is one call of du.
type meter struct {
	c      *command.Call
	o      command.Options
	depth  int
	status int
}

func du(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "s,summarize h,human-readable a,all c,total d,max-depth: b,bytes k m ,apparent-size ,exclude: x L S si 0")
	if err != nil {
		return c.Usage(err)
	}
	depth, err := o.Number("d", -1)
	if err != nil {
		return c.Usage(err)
	}
	if o.Has("s") {
		depth = 0
	}
	m := &meter{c: c, o: o, depth: depth}
	names := o.Operands
	if len(names) == 0 {
		names = []string{"."}
	}
	total := int64(0)
	for _, name := range names {
		total += m.measure(ctx, name, 0)
	}
	if o.Has("c") {
		m.line(total, "total")
	}
	return m.status
}

func (m *meter) line(size int64, name string) {
	text := fmt.Sprint((size + 1023) / 1024)
	switch {
	case m.o.Has("b"):
		text = fmt.Sprint(size)
	case m.o.Has("h"):
		text = human(size)
	case m.o.Has("m"):
		text = fmt.Sprint((size + 1<<20 - 1) >> 20)
	}
	fmt.Fprintf(m.c.Out, "%s\t%s\n", text, name)
}

func (m *meter) measure(ctx context.Context, name string, depth int) int64 {
	info, err := m.c.Disk.Lstat(m.c.Path(name))
	if err != nil {
		m.status = m.c.Fail("cannot access '%s': %s", name, command.Reason(err))
		return 0
	}
	size := blocks(info) * 1024
	if m.o.Has("b") || m.o.Has("apparent-size") {
		size = info.Size()
	}
	if info.IsDir() && ctx.Err() == nil {
		entries, err := m.c.Disk.ReadDir(m.c.Path(name))
		if err != nil {
			m.status = m.c.Fail("cannot read directory '%s': %s", name, command.Reason(err))
		}
		for _, entry := range entries {
			if !m.excluded(entry.Name()) {
				size += m.measure(ctx, strings.TrimSuffix(name, "/")+"/"+entry.Name(), depth+1)
			}
		}
	}
	if depth == 0 || (info.IsDir() || m.o.Has("a")) && (m.depth < 0 || depth <= m.depth) {
		m.line(size, name)
	}
	return size
}

func (m *meter) excluded(name string) bool {
	for _, glob := range m.o.Values("exclude") {
		if matched, err := path.Match(glob, name); err == nil && matched {
			return true
		}
	}
	return false
}

func df(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "h,human-readable k P T i,inodes a t: x: ,total ,output?")
	if err != nil {
		return c.Usage(err)
	}
	used := (&meter{c: c, o: command.Options{}}).quiet(ctx)
	show := func(n int64) string { return fmt.Sprint(n / 1024) }
	if o.Has("h") {
		show = human
	}
	fmt.Fprintf(c.Out, "Filesystem     1K-blocks      Used Available Use%% Mounted on\nworkspace      %9s %9s %9s %4s /\n", "-", show(used), "-", "-")
	fmt.Fprintln(c.Err, "df: how much more the workspace may hold is not known inside the sandbox")
	return 0
}

// quiet measures everything without a line.
func (m *meter) quiet(ctx context.Context) int64 {
	out := m.c.Out
	defer func() { m.c.Out = out }()
	m.c.Out = discard()
	return m.measure(ctx, "/", 0)
}

func show(ctx context.Context, c *command.Call) int {
	o, err := command.Parse(c.Args, "a d L: f i ,noreport ,dirsfirst F h s C n I: P: ,gitignore")
	if err != nil {
		return c.Usage(err)
	}
	level, err := o.Number("L", -1)
	if err != nil {
		return c.Usage(err)
	}
	names := o.Operands
	if len(names) == 0 {
		names = []string{"."}
	}
	d := &drawing{c: c, o: o, level: level}
	for _, name := range names {
		fmt.Fprintln(c.Out, name)
		d.folder(ctx, name, "", 1)
	}
	if !o.Has("noreport") {
		fmt.Fprintf(c.Out, "\n%d directories, %d files\n", d.folders, d.files)
	}
	return 0
}

// drawing is one call of tree.
type drawing struct {
	c              *command.Call
	o              command.Options
	level          int
	folders, files int
}

func (d *drawing) folder(ctx context.Context, name, before string, depth int) {
	entries, err := d.c.Disk.ReadDir(d.c.Path(name))
	if err != nil || d.level >= 0 && depth > d.level || ctx.Err() != nil {
		return
	}
	var shown []fs.DirEntry
	for _, entry := range entries {
		if (d.o.Has("a") || !strings.HasPrefix(entry.Name(), ".")) && (entry.IsDir() || !d.o.Has("d")) {
			shown = append(shown, entry)
		}
	}
	for i, entry := range shown {
		branch, next := "├── ", "│   "
		if i == len(shown)-1 {
			branch, next = "└── ", "    "
		}
		fmt.Fprintln(d.c.Out, before+branch+entry.Name())
		if !entry.IsDir() {
			d.files++
			continue
		}
		d.folders++
		d.folder(ctx, path.Join(name, entry.Name()), before+next, depth+1)
	}
}
