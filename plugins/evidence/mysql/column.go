package mysql

import (
	"regexp"
	"strings"
)

// identifier is a column's name that may stand as it is.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// literal is a text or a number in a name.
var literal = regexp.MustCompile(`'[^']*'?|"[^"]*"?|\b[0-9][0-9A-Za-z_.]*`)

// column is the name of a column as evidence has it. Names are the statement's own words: what it writes there, such as
// a number or a sentence, is nothing that a database said.
func column(name string) string {
	name = strings.ReplaceAll(name, "`", "")
	if identifier.MatchString(name) {
		return name
	}
	name = literal.ReplaceAllString(strings.ReplaceAll(name, "COUNT(1)", "COUNT(*)"), "?")
	name = strings.Map(func(r rune) rune {
		if r > '~' || r <= ' ' || strings.ContainsRune(`\"'`, r) {
			return '_'
		}
		return r
	}, name)
	return name[:min(len(name), 64)]
}
