package execguard

import "strings"

// awk judges awk by its program: it can run commands and write files.
func awk(_ *judge, c call) finding {
	if c.has("-f", "--file", "-e", "--source", "-i", "--include", "-l", "--load", "-E", "--exec") && !c.separatorOnly() {
		return finding{level: caution, reason: "awk runs a program that is not shown."}
	}
	operands := c.operands("-F", "-v", "--field-separator", "--assign")
	if len(operands) == 0 {
		return isSafe()
	}
	if operands[0].split || strings.HasPrefix(operands[0].text, hole) {
		return finding{level: caution, reason: "The program of awk is not known before it runs."}
	}
	return awkProgram(operands[0].text)
}

// separatorOnly reports whether every option is a separator or a variable, whose values may hold any letter.
func (c call) separatorOnly() bool {
	for _, arg := range c.args {
		if arg.option() && !strings.HasPrefix(arg.text, "-F") && !strings.HasPrefix(arg.text, "-v") &&
			!strings.HasPrefix(arg.text, "--field-separator") && !strings.HasPrefix(arg.text, "--assign") {
			return false
		}
	}
	return true
}

// awkProgram looks at a program with its strings, patterns and comments taken away.
func awkProgram(text string) finding {
	bare := strings.ReplaceAll(awkBare(text), "||", " ")
	switch {
	case strings.Contains(bare, "system"), strings.Contains(bare, "|"), strings.Contains(bare, "@"):
		return finding{level: danger, reason: "awk runs a command.", pattern: "awk system"}
	case awkWrites(bare):
		return finding{level: caution, reason: "awk writes files."}
	}
	return isSafe()
}

// awkWrites reports whether a print statement has its output redirected.
func awkWrites(bare string) bool {
	for {
		at := strings.Index(bare, "print")
		if at < 0 {
			return false
		}
		bare = bare[at+len("print"):]
		end := strings.IndexAny(bare, ";}\n")
		if end < 0 {
			end = len(bare)
		}
		if strings.Contains(bare[:end], ">") {
			return true
		}
	}
}

// awkBare drops strings, regular expressions and comments, reading them in order as awk does. A slash begins a
// pattern only where no operand stands before it.
func awkBare(text string) string {
	var out strings.Builder
	before := byte(0) // last character that is no space
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			i = skipTo(text, i, '"')
			out.WriteByte('"')
		case c == '/' && strings.IndexByte("\x00~(,!{;&|}\n", before) >= 0:
			i = skipTo(text, i, '/')
			out.WriteByte('/')
		case c == '#':
			i = skipTo(text, i, '\n')
		default:
			out.WriteByte(c)
		}
		if c != ' ' && c != '\t' {
			before = c
		}
	}
	return out.String()
}

// skipTo returns the index of the closing character, escaped ones passed over.
func skipTo(text string, from int, closing byte) int {
	for i := from + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case closing:
			return i
		}
	}
	return len(text)
}
