package readonly

import (
	"strings"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
)

// checkComments refuses comments that a server obeys, and those in which another begins. Texts and quoted names may hold
// what looks like one.
func checkComments(sql string) error {
	for rest := sql; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "/*"):
			inside, after, closed := strings.Cut(rest[2:], "*/")
			if !closed || obeyed(inside) {
				return fact.Refuse("Comments of the kinds /*! */, /*M! */ and /*+ */ are not allowed, nor comments in comments.")
			}
			rest = after
		case rest[0] == '#' || strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' '):
			_, rest, _ = strings.Cut(rest, "\n")
		case rest[0] == '\'' || rest[0] == '"' || rest[0] == '`':
			rest = rest[quoted(rest):]
		default:
			rest = rest[1:]
		}
	}
	return nil
}

func obeyed(comment string) bool {
	for _, sign := range []string{"!", "M!", "m!", "+", "T!"} {
		if strings.HasPrefix(comment, sign) {
			return true
		}
	}
	return strings.Contains(comment, "/*")
}

// quoted returns the length of the quoted text or name that text begins with. One that does not end takes all.
func quoted(text string) int {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote != '`':
			i++
		case text[i] != quote:
		case i+1 < len(text) && text[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(text)
}
