// Package regex compiles the regular expressions of POSIX and GNU utilities: basic, extended and fixed ones. Matching
// takes linear time whatever the expression; what would need more, a back-reference in an expression, is refused.
package regex

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Syntax says how an expression is written.
type Syntax struct {
	Extended  bool // (a|b)+ without backslashes
	Fixed     bool // plain text
	Perl      bool // RE2's own syntax, which is close to Perl's
	Fold      bool // upper and lower case are the same
	Multiline bool // ^ and $ also match at line ends
}

// Compile returns the expression, which prefers the longest match as POSIX does.
func Compile(text string, syntax Syntax) (*regexp.Regexp, error) {
	flags := "s"
	if syntax.Fold {
		flags += "i"
	}
	if syntax.Multiline {
		flags += "m"
	}
	source := ""
	switch {
	case syntax.Fixed:
		source = regexp.QuoteMeta(text)
	case syntax.Perl:
		source = text
	default:
		t := translation{text: text, extended: syntax.Extended}
		if err := t.run(); err != nil {
			return nil, err
		}
		source = t.out.String()
	}
	re, err := regexp.Compile("(?" + flags + ")" + source)
	if err != nil {
		return nil, fmt.Errorf("invalid regular expression %q: %s", text, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if !syntax.Perl {
		re.Longest()
	}
	return re, nil
}

var errBackReference = errors.New("back-references such as \\1 are not available inside a regular expression here")

// translation turns one POSIX expression into one of package regexp.
type translation struct {
	text     string
	extended bool
	at       int
	out      strings.Builder
	begin    bool // nothing that could repeat stands before
}

func (t *translation) run() error {
	t.begin = true
	for t.at < len(t.text) {
		if err := t.step(); err != nil {
			return err
		}
	}
	return nil
}

func (t *translation) step() error {
	ch := t.text[t.at]
	switch ch {
	case '\\':
		return t.escape()
	case '[':
		return t.bracket()
	case '*':
		t.repeat("*")
	case '+', '?':
		if t.extended {
			t.repeat(string(ch))
		} else {
			t.literal(1)
		}
	case '(', ')', '|':
		if t.extended {
			t.group(string(ch), 1)
		} else {
			t.literal(1)
		}
	case '{':
		if t.extended && t.interval("}") {
			return nil
		}
		t.literal(1)
	case '^':
		t.anchorStart()
	case '$':
		t.anchorEnd()
	case '.':
		t.put(".", 1)
	default:
		t.literal(1)
	}
	return nil
}

// put writes translated text and moves on.
func (t *translation) put(text string, size int) {
	t.out.WriteString(text)
	t.at += size
	t.begin = false
}

func (t *translation) literal(size int) {
	t.put(regexp.QuoteMeta(t.text[t.at:t.at+size]), size)
}

// repeat writes an operator; at the start of an expression it is a plain character. Doubled operators mean one.
func (t *translation) repeat(operator string) {
	switch written := t.out.String(); {
	case t.begin:
		t.out.WriteString(`\` + operator)
	case strings.HasSuffix(written, "*") && !strings.HasSuffix(written, `\*`):
		// ** is *
	default:
		t.out.WriteString(operator)
		t.at++
		if t.at < len(t.text) && t.text[t.at] == '?' && t.extended {
			t.out.WriteString("{1}") // a+? is (a+)? elsewhere, not a lazy repeat
			t.at++
		}
		return
	}
	t.begin = false
	t.at++
}

func (t *translation) group(operator string, size int) {
	t.out.WriteString(operator)
	t.at += size
	t.begin = operator != ")"
}

// interval writes {n,m} when that is what stands here.
func (t *translation) interval(end string) bool {
	open := 1
	if end != "}" {
		open = 2
	}
	body, _, found := strings.Cut(t.text[t.at+open:], end)
	if !found || t.begin || body == "" || strings.Trim(body, "0123456789,") != "" || strings.Count(body, ",") > 1 {
		return false
	}
	size := open + len(body) + len(end)
	if strings.HasPrefix(body, ",") {
		body = "0" + body
	}
	t.put("{"+body+"}", size)
	return true
}

func (t *translation) anchorStart() {
	if t.extended || t.begin {
		t.out.WriteByte('^')
		t.at++
		return // what follows is still a beginning: ^* means a star
	}
	t.literal(1)
}

func (t *translation) anchorEnd() {
	rest := t.text[t.at+1:]
	if t.extended || rest == "" || strings.HasPrefix(rest, `\)`) || strings.HasPrefix(rest, `\|`) {
		t.put("$", 1)
		return
	}
	t.literal(1)
}

func (t *translation) escape() error {
	if t.at+1 == len(t.text) {
		return errors.New("trailing backslash")
	}
	ch := t.text[t.at+1]
	switch {
	case ch >= '1' && ch <= '9':
		return errBackReference
	case strings.IndexByte("wWsSbB", ch) >= 0:
		t.put(`\`+string(ch), 2)
	case strings.IndexByte("nrtfav", ch) >= 0:
		t.put(`\`+string(ch), 2)
	case ch == '<' || ch == '>':
		t.put(`\b`, 2)
	case ch == '`':
		t.put(`\A`, 2)
	case ch == '\'':
		t.put(`\z`, 2)
	case !t.extended && strings.IndexByte("()|", ch) >= 0:
		t.group(string(ch), 2)
	case !t.extended && (ch == '+' || ch == '?'):
		t.at++
		t.repeat(string(ch))
	case !t.extended && ch == '{':
		if !t.interval(`\}`) {
			return errors.New("invalid content of \\{\\}")
		}
	default:
		t.at++
		t.literal(1)
	}
	return nil
}

// bracket copies [...], in which a backslash is itself.
func (t *translation) bracket() error {
	end := bracketEnd(t.text[t.at:])
	if end < 0 {
		return errors.New("unterminated [")
	}
	body := t.text[t.at+1 : t.at+end]
	var b strings.Builder
	b.WriteByte('[')
	if rest, not := strings.CutPrefix(body, "^"); not {
		b.WriteByte('^')
		body = rest
	}
	for i := 0; i < len(body); i++ {
		switch ch := body[i]; {
		case ch == '[' && i+1 < len(body) && strings.IndexByte(":.=", body[i+1]) >= 0:
			close := strings.Index(body[i+2:], string(body[i+1])+"]")
			if close < 0 {
				return errors.New("unterminated character class")
			}
			name := body[i+2 : i+2+close]
			if body[i+1] == ':' {
				name = "[:" + name + ":]"
			} else {
				name = regexp.QuoteMeta(name)
			}
			b.WriteString(name)
			i += close + 3
		case ch == '\\' && i+1 < len(body) && strings.IndexByte("nt", body[i+1]) >= 0:
			b.WriteString(`\` + string(body[i+1]))
			i++
		case ch == '\\' && i+1 < len(body) && strings.IndexByte("wWsSd", body[i+1]) >= 0:
			b.WriteString(`\` + string(body[i+1])) // not POSIX, but what people mean
			i++
		case strings.IndexByte(`\[]^&~`, ch) >= 0:
			b.WriteString(`\` + string(ch))
		case ch == '-' && (i == 0 || i == len(body)-1):
			b.WriteString(`\-`)
		default:
			b.WriteByte(ch)
		}
	}
	b.WriteByte(']')
	t.put(b.String(), end+1)
	return nil
}

// bracketEnd returns where the bracket expression at the start of text ends, or -1.
func bracketEnd(text string) int {
	at := 1
	if strings.HasPrefix(text[at:], "^") {
		at++
	}
	if strings.HasPrefix(text[at:], "]") {
		at++
	}
	for at < len(text) {
		switch {
		case text[at] == ']':
			return at
		case text[at] == '[' && at+1 < len(text) && strings.IndexByte(":.=", text[at+1]) >= 0:
			close := strings.Index(text[at+2:], string(text[at+1])+"]")
			if close < 0 {
				return -1
			}
			at += close + 4
		default:
			at++
		}
	}
	return -1
}
