package find

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/fastreact/fastreact/plugins/shell/command"
	"github.com/fastreact/fastreact/plugins/shell/regex"
)

// Expression is what find is asked to do with every file.
type Expression struct {
	root               *node
	minDepth, maxDepth int // -1: no bound
	depthFirst, follow bool
	acts               bool // an action stands in it
	now                time.Time
}

// node is one test or action, or several joined.
type node struct {
	kind      string // "and", "or", "not", ",", or the name of a test or action
	parts     []*node
	text      string
	glob      *regexp.Regexp
	sign      byte // of a number: + more, - less, 0 exactly
	number    int64
	unit      int64
	reference string
	than      time.Time
	action    *action
}

const maxWords = 10_000

// Parse reads an expression.
func Parse(words []string) (*Expression, error) {
	if len(words) > maxWords {
		return nil, fmt.Errorf("the expression has more than %d words", maxWords)
	}
	p := &parser{words: words, expr: &Expression{maxDepth: -1, now: time.Now()}}
	root := &node{kind: "true"}
	var err error
	if len(words) > 0 {
		if root, err = p.list(0); err != nil {
			return nil, err
		}
	}
	if len(p.words) > 0 {
		return nil, fmt.Errorf("unexpected ‘%s’", p.words[0])
	}
	if !p.expr.acts {
		root = &node{kind: "and", parts: []*node{root, {kind: "print"}}}
	}
	p.expr.root = root
	return p.expr, nil
}

type parser struct {
	words []string
	expr  *Expression
}

func (p *parser) peek() string {
	if len(p.words) == 0 {
		return ""
	}
	return p.words[0]
}

func (p *parser) next() string {
	word := p.peek()
	p.words = p.words[min(1, len(p.words)):]
	return word
}

const maxNesting = 100

// list is expr , expr.
func (p *parser) list(depth int) (*node, error) {
	if depth > maxNesting {
		return nil, errors.New("the expression is nested too deeply")
	}
	return p.joined(",", []string{","}, func() (*node, error) {
		return p.joined("or", []string{"-o", "-or"}, func() (*node, error) { return p.and(depth) })
	})
}

func (p *parser) joined(kind string, operators []string, part func() (*node, error)) (*node, error) {
	first, err := part()
	if err != nil {
		return nil, err
	}
	parts := []*node{first}
	for isOneOf(p.peek(), operators) && len(p.words) > 0 {
		p.next()
		more, err := part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, more)
	}
	if len(parts) == 1 {
		return first, nil
	}
	return &node{kind: kind, parts: parts}, nil
}

func isOneOf(word string, list []string) bool {
	for _, one := range list {
		if word == one {
			return true
		}
	}
	return false
}

func (p *parser) and(depth int) (*node, error) {
	var parts []*node
	for len(p.words) > 0 && !isOneOf(p.peek(), []string{"-o", "-or", ",", ")"}) {
		if word := p.peek(); word == "-a" || word == "-and" {
			p.next()
			continue
		}
		part, err := p.primary(depth)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	switch len(parts) {
	case 0:
		return nil, errors.New("an expression is missing")
	case 1:
		return parts[0], nil
	}
	return &node{kind: "and", parts: parts}, nil
}

func (p *parser) primary(depth int) (*node, error) {
	if depth > maxNesting {
		return nil, errors.New("the expression is nested too deeply")
	}
	word := p.next()
	switch word {
	case "!", "-not":
		if len(p.words) == 0 {
			return nil, fmt.Errorf("expected an expression after ‘%s’", word)
		}
		inner, err := p.primary(depth + 1)
		return &node{kind: "not", parts: []*node{inner}}, err
	case "(":
		inner, err := p.list(depth + 1)
		if err == nil && p.next() != ")" {
			err = errors.New("‘(’ without ‘)’")
		}
		return inner, err
	}
	name, isOption := strings.CutPrefix(word, "-")
	if !isOption {
		return nil, fmt.Errorf("paths must precede expression: ‘%s’", word)
	}
	return p.test(name)
}

// test reads one test, action or option.
func (p *parser) test(name string) (*node, error) {
	n := &node{kind: name}
	switch name {
	case "true", "false", "empty", "nouser", "nogroup", "readable", "writable", "executable":
		return n, nil
	case "depth", "d":
		p.expr.depthFirst = true
		return &node{kind: "true"}, nil
	case "follow":
		p.expr.follow = true
		return &node{kind: "true"}, nil
	case "xdev", "mount", "noleaf", "daystart", "warn", "nowarn", "ignore_readdir_race":
		return &node{kind: "true"}, nil
	case "print", "print0", "prune", "quit", "ls", "delete":
		p.expr.acts = p.expr.acts || name != "prune"
		p.expr.depthFirst = p.expr.depthFirst || name == "delete"
		return n, nil
	case "exec", "execdir", "ok", "okdir":
		return p.action(n)
	}
	if len(p.words) == 0 && known(name) {
		return nil, fmt.Errorf("missing argument to ‘-%s’", name)
	}
	return p.withArgument(n)
}

func known(name string) bool {
	return isOneOf(name, strings.Fields("name iname path wholename ipath iwholename regex iregex lname regextype type xtype maxdepth mindepth size newer anewer cnewer newermt mtime atime ctime mmin amin cmin perm links printf user group uid gid samefile inum"))
}

func (p *parser) withArgument(n *node) (*node, error) {
	if !known(n.kind) {
		return nil, fmt.Errorf("unknown predicate ‘-%s’", n.kind)
	}
	n.text = p.next()
	var err error
	switch n.kind {
	case "maxdepth", "mindepth":
		depth, wrong := strconv.Atoi(n.text)
		if wrong != nil || depth < 0 {
			return nil, fmt.Errorf("-%s wants a number", n.kind)
		}
		if n.kind == "maxdepth" {
			p.expr.maxDepth = depth
		} else {
			p.expr.minDepth = depth
		}
		return &node{kind: "true"}, nil
	case "name", "path", "wholename", "lname", "iname", "ipath", "iwholename":
		n.glob, err = globPattern(n.text, strings.HasPrefix(n.kind, "i"))
	case "regex", "iregex":
		n.glob, err = regex.Compile("^("+n.text+")$", regex.Syntax{Extended: true, Fold: n.kind == "iregex"})
	case "regextype", "user", "group", "uid", "gid":
		return &node{kind: "true"}, nil
	case "newer", "anewer", "cnewer", "samefile":
		n.reference = n.text
	case "newermt":
		n.than, err = command.ReadTime(n.text, p.expr.now)
	case "size":
		err = n.size()
	case "mtime", "atime", "ctime", "mmin", "amin", "cmin", "links", "inum":
		err = n.amount(n.text)
	case "perm":
		err = n.permission()
	case "type", "xtype":
		if strings.Trim(n.text, "fdlbcps,") != "" || n.text == "" {
			err = fmt.Errorf("unknown argument to -%s: %s", n.kind, n.text)
		}
	case "printf":
		p.expr.acts = true
	}
	return n, err
}

// amount reads +n, -n or n.
func (n *node) amount(text string) error {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		n.sign, text = text[0], text[1:]
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 0 {
		return fmt.Errorf("invalid argument ‘%s’ to ‘-%s’", n.text, n.kind)
	}
	n.number = number
	return nil
}

func (n *node) size() error {
	n.unit = 512
	text := n.text
	if text != "" {
		if at := strings.IndexByte("cwbkMG", text[len(text)-1]); at >= 0 {
			n.unit = []int64{1, 2, 512, 1 << 10, 1 << 20, 1 << 30}[at]
			text = text[:len(text)-1]
		}
	}
	return n.amount(text)
}

func (n *node) permission() error {
	text := n.text
	if text != "" && (text[0] == '-' || text[0] == '/') {
		n.sign, text = text[0], text[1:]
	}
	if bits, err := strconv.ParseInt(text, 8, 32); err == nil {
		n.number = bits
		return nil
	}
	bits, err := command.SymbolicMode(0, text, false)
	n.number = int64(bits)
	return err
}

// globPattern turns a shell pattern into an expression that matches whole names; * matches / too.
func globPattern(glob string, fold bool) (*regexp.Regexp, error) {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch ch := glob[i]; ch {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		case '\\':
			if i+1 < len(glob) {
				i++
			}
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		case '[':
			end := strings.IndexByte(glob[min(i+2, len(glob)):], ']')
			if end < 0 {
				b.WriteString(`\[`)
				continue
			}
			body := strings.ReplaceAll(glob[i+1:i+2+end], `\`, `\\`)
			if strings.HasPrefix(body, "!") {
				body = "^" + body[1:]
			}
			b.WriteString("[" + body + "]")
			i += end + 2
		default:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		}
	}
	flags := "s"
	if fold {
		flags = "si"
	}
	compiled, err := regexp.Compile("(?" + flags + ")^(?:" + b.String() + ")$")
	if err != nil {
		return nil, fmt.Errorf("%q is not a pattern", glob)
	}
	return compiled, nil
}
