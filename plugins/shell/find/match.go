package find

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/fastreact/fastreact/plugins/shell/command"
	"github.com/fastreact/fastreact/plugins/shell/disk"
)

// match tests a file, running the actions on the way, and reports whether the node holds for it.
func (n *node) match(ctx context.Context, w *walker, e entry) bool {
	switch n.kind {
	case "and", "or":
		for _, part := range n.parts {
			if part.match(ctx, w, e) != (n.kind == "and") || w.quit {
				return n.kind == "or"
			}
		}
		return n.kind == "and"
	case ",":
		held := false
		for _, part := range n.parts {
			held = part.match(ctx, w, e)
		}
		return held
	case "not":
		return !n.parts[0].match(ctx, w, e)
	}
	if held, done := n.act(ctx, w, e); done {
		return held
	}
	return n.test(w, e)
}

// act runs an action.
func (n *node) act(ctx context.Context, w *walker, e entry) (held, done bool) {
	switch n.kind {
	case "print":
		w.print(e.name, '\n')
	case "print0":
		w.print(e.name, 0)
	case "printf":
		_, _ = w.c.Out.WriteString(format(n.text, e, w))
	case "ls":
		fmt.Fprintf(w.c.Out, "%s %8d %s %s\n", command.ModeText(e.info.Mode()), e.info.Size(), e.info.ModTime().UTC().Format("Jan _2 15:04"), e.name)
	case "prune":
		w.prune = true
	case "quit":
		w.quit = true
	case "delete":
		return n.remove(w, e), true
	case "exec", "execdir", "ok", "okdir":
		return n.action.run(ctx, w, e), true
	default:
		return false, false
	}
	return true, true
}

func (n *node) remove(w *walker, e entry) bool {
	if e.name == "." || e.name == ".." || strings.HasSuffix(e.name, "/.") {
		return true
	}
	if err := w.c.Disk.Remove(w.c.Path(e.name)); err != nil {
		w.status = w.c.Fail("cannot delete ‘%s’: %s", e.name, command.Reason(err))
		return false
	}
	return true
}

func (n *node) test(w *walker, e entry) bool {
	switch n.kind {
	case "true":
		return true
	case "name", "iname":
		return n.glob.MatchString(baseName(e.name))
	case "path", "wholename", "ipath", "iwholename", "regex", "iregex":
		return n.glob.MatchString(e.name)
	case "lname":
		target, err := w.c.Disk.Readlink(w.c.Path(e.name))
		return err == nil && n.glob.MatchString(target)
	case "type", "xtype":
		return strings.Contains(n.text, string(letterOf(e.info.Mode())))
	case "empty":
		return n.isEmpty(w, e)
	case "size":
		return n.compare((e.info.Size() + n.unit - 1) / n.unit)
	case "newer", "anewer", "cnewer", "newermt":
		return e.info.ModTime().After(n.than)
	case "samefile":
		other, err := w.c.Disk.Stat(w.c.Path(n.reference))
		return err == nil && disk.Same(other, e.info)
	case "mtime", "atime", "ctime":
		return n.compare(int64(w.expr.now.Sub(e.info.ModTime()) / (24 * time.Hour)))
	case "mmin", "amin", "cmin":
		age := w.expr.now.Sub(e.info.ModTime())
		if n.sign == 0 {
			return int64((age+time.Minute-1)/time.Minute) == n.number
		}
		if n.sign == '+' {
			return age > time.Duration(n.number)*time.Minute
		}
		return age < time.Duration(n.number)*time.Minute
	case "perm":
		return n.allows(int64(e.info.Mode().Perm()))
	case "links":
		return n.compare(1)
	case "readable", "writable":
		return true
	case "executable":
		return e.info.IsDir() || e.info.Mode()&0o111 != 0
	}
	return false
}

func (n *node) compare(value int64) bool {
	switch n.sign {
	case '+':
		return value > n.number
	case '-':
		return value < n.number
	}
	return value == n.number
}

func (n *node) allows(mode int64) bool {
	switch n.sign {
	case '-':
		return mode&n.number == n.number
	case '/':
		return n.number == 0 || mode&n.number != 0
	}
	return mode == n.number
}

func (n *node) isEmpty(w *walker, e entry) bool {
	if !e.info.IsDir() {
		return e.info.Mode().IsRegular() && e.info.Size() == 0
	}
	entries, err := w.c.Disk.ReadDir(w.c.Path(e.name))
	return err == nil && len(entries) == 0
}

func letterOf(mode fs.FileMode) byte {
	switch {
	case mode.IsDir():
		return 'd'
	case mode&fs.ModeSymlink != 0:
		return 'l'
	case mode&fs.ModeNamedPipe != 0:
		return 'p'
	case mode&fs.ModeCharDevice != 0:
		return 'c'
	}
	return 'f'
}

// format writes -printf's text about a file.
func format(text string, e entry, w *walker) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if i+1 == len(text) || text[i] != '\\' && text[i] != '%' {
			b.WriteByte(text[i])
			continue
		}
		i++
		if text[i-1] == '\\' {
			if at := strings.IndexByte("nt0\\", text[i]); at >= 0 {
				b.WriteByte("\n\t\x00\\"[at])
			} else {
				b.WriteString(text[i-1 : i+1])
			}
			continue
		}
		if text[i] == 'T' && i+1 < len(text) {
			i++
			b.WriteString(moment(text[i], e.info.ModTime()))
			continue
		}
		b.WriteString(directive(text[i], e, w))
	}
	return b.String()
}

func directive(letter byte, e entry, w *walker) string {
	switch letter {
	case 'p':
		return e.name
	case 'P':
		return strings.TrimPrefix(strings.TrimPrefix(e.name, e.base), "/")
	case 'f':
		return baseName(e.name)
	case 'h':
		if at := strings.LastIndexByte(e.name, '/'); at >= 0 {
			return e.name[:at]
		}
		return "."
	case 's':
		return fmt.Sprint(e.info.Size())
	case 'd':
		return fmt.Sprint(e.depth)
	case 'm':
		return fmt.Sprintf("%o", e.info.Mode().Perm())
	case 'M':
		return command.ModeText(e.info.Mode())
	case 'y':
		return string(letterOf(e.info.Mode()))
	case 'l':
		target, _ := w.c.Disk.Readlink(w.c.Path(e.name))
		return target
	case 't':
		return e.info.ModTime().UTC().Format("Mon Jan _2 15:04:05.0000000000 2006")
	case 'u', 'g':
		return "user"
	case '%':
		return "%"
	}
	return "%" + string(letter)
}

func moment(letter byte, t time.Time) string {
	switch letter {
	case '@':
		return fmt.Sprintf("%d.%010d", t.Unix(), int64(t.Nanosecond())*10)
	case '+':
		return t.UTC().Format("2006-01-02+15:04:05.0000000000")
	}
	return command.FormatTime("%"+string(letter), t.UTC())
}
