package execguard

import "strings"

// sed judges sed by its options and by what its script can do: run a command, write a file, or only print.
func sed(_ *judge, c call) finding {
	own := isSafe()
	if c.has("-i", "--in-place") && !c.onlyScripts() {
		own = finding{level: caution, reason: "sed changes files in place."}
		for _, operand := range c.operands("-e", "-f") {
			if underSystem(operand.text) {
				own = own.atLeast(danger, "sed changes a system file.")
			}
		}
	}
	if c.has("-f", "--file") {
		own = own.atLeast(caution, "sed runs a script that is not shown.")
	}
	for _, script := range c.scripts() {
		own = own.or(sedScript(script))
	}
	return own
}

// onlyScripts reports whether every option is one of those that cannot change files.
func (c call) onlyScripts() bool {
	for _, arg := range c.args {
		if arg.option() && strings.Trim(arg.text, "-nErsuze") != "" {
			return false
		}
	}
	return true
}

// scripts returns sed's scripts: the values of -e, or the first operand.
func (c call) scripts() []word {
	var scripts []word
	for i, arg := range c.args {
		switch {
		case arg.option() && !strings.HasPrefix(arg.text, "--") && strings.HasSuffix(arg.text, "e") && i+1 < len(c.args):
			scripts = append(scripts, c.args[i+1])
		case strings.HasPrefix(arg.text, "-e"), strings.HasPrefix(arg.text, "--expression="):
			scripts = append(scripts, word{text: strings.TrimPrefix(strings.TrimPrefix(arg.text, "--expression="), "-e")})
		}
	}
	if operands := c.operands("-f", "--file", "-l"); len(scripts) == 0 && len(operands) > 0 {
		return operands[:1]
	}
	return scripts
}

// sedScript reads a script command by command. What it cannot read is caution.
func sedScript(w word) finding {
	if w.split {
		return finding{level: caution, reason: "The script of sed is not known before it runs."}
	}
	rest := w.text
	worst := isSafe()
	for {
		rest = sedAddress(strings.TrimLeft(rest, " \t\n;{}"))
		if rest == "" {
			return worst
		}
		command := rest[0]
		rest = rest[1:]
		switch {
		case command == 's' || command == 'y':
			flags, tail, ok := sedSubstitute(rest)
			if !ok {
				return worst.atLeast(caution, "The script of sed cannot be read.")
			}
			rest = tail
			worst = worst.or(sedFlags(flags))
		case command == 'e':
			return finding{level: danger, reason: "sed runs a command.", pattern: "sed e"}
		case command == 'w' || command == 'W':
			return worst.atLeast(caution, "sed writes a file.")
		case strings.IndexByte("aicrR#", command) >= 0:
			_, rest, _ = strings.Cut(rest, "\n")
		case strings.IndexByte("btT:", command) >= 0:
			rest = strings.TrimLeft(rest, " \t")
			rest = strings.TrimLeft(rest, labelBytes)
		case strings.IndexByte("pPdDgGhHnNxqQl=zF", command) >= 0:
		default:
			return worst.atLeast(caution, "The script of sed cannot be read.")
		}
	}
}

func sedFlags(flags string) finding {
	switch {
	case strings.Contains(flags, "e"):
		return finding{level: danger, reason: "sed runs what it substitutes as a command.", pattern: "sed s///e"}
	case strings.ContainsAny(flags, "wW"):
		return finding{level: caution, reason: "sed writes a file."}
	}
	return isSafe()
}

// sedAddress skips line numbers, $, /patterns/ and what stands between them.
func sedAddress(rest string) string {
	for rest != "" {
		switch c := rest[0]; {
		case strings.IndexByte("0123456789$,!~+ \t", c) >= 0:
			rest = rest[1:]
		case c == '/' || c == '\\' && len(rest) > 1:
			if c == '\\' {
				rest = rest[1:]
			}
			_, tail, ok := upTo(rest[1:], rest[0])
			if !ok {
				return "?"
			}
			rest = strings.TrimLeft(tail, "IM")
		default:
			return rest
		}
	}
	return ""
}

// sedSubstitute splits what follows an s or y: its flags, and the rest of the script.
func sedSubstitute(rest string) (flags, tail string, ok bool) {
	if rest == "" {
		return "", "", false
	}
	delimiter := rest[0]
	_, tail, ok = upTo(rest[1:], delimiter)
	if ok {
		_, tail, ok = upTo(tail, delimiter)
	}
	if !ok {
		return "", "", false
	}
	if end := strings.IndexAny(tail, ";}\n"); end >= 0 {
		return tail[:end], tail[end:], true
	}
	return tail, "", true
}

// labelBytes are what a label is made of.
const labelBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

// upTo cuts text at the delimiter, escaped ones passed over.
func upTo(text string, delimiter byte) (before, after string, ok bool) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case delimiter:
			return text[:i], text[i+1:], true
		}
	}
	return "", "", false
}
