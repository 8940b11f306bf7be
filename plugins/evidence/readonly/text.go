package readonly

import (
	"strings"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
)

// checkText looks at a statement that was written anew once more, without the grammar: outside of texts and quoted names
// there is no comment, no variable, no second statement, no word that writes or locks, and nothing is called that may
// not be. It stands behind the walk, in case that overlooks a part of a node.
func checkText(sql string) error {
	refused := fact.Refuse("The statement uses a form that is not allowed.")
	for rest := sql; rest != ""; {
		switch {
		case rest[0] == '\'' || rest[0] == '`':
			size := quoted(rest)
			after := strings.TrimLeft(rest[size:], " ")
			if rest[0] == '`' && strings.HasPrefix(after, "(") && !columnList(after) {
				return refused
			}
			rest = rest[size:]
		case strings.ContainsRune("\"\\;#@$", rune(rest[0])), rest[0] < ' ',
			strings.HasPrefix(rest, "/*"), strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, ":="):
			return refused
		case letter(rest[0]):
			word := leadingWord(rest)
			rest = rest[len(word):]
			if !allowedWord(strings.ToLower(word), rest) {
				return refused
			}
		default:
			rest = rest[1:]
		}
	}
	return nil
}

func letter(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b >= 0x80
}

func leadingWord(text string) string {
	end := 0
	for end < len(text) && (letter(text[end]) || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	return text[:end]
}

// forbiddenWords never stand unquoted in a statement that only reads.
const forbiddenWords = " into outfile dumpfile procedure lock share update delete set call do handler load grant revoke " +
	"returning analyze sql_calc_found_rows nowait locked skip drop alter truncate rename execute prepare deallocate use " +
	"flush kill purge reset begin commit rollback savepoint xa nextval lastval setval "

// grammarWords stand directly before a bracket without being called.
const grammarWords = " row convert in exists and or not any all some using on by as over values against with select from where " +
	"char binary decimal datetime time signed unsigned double float json year nchar interval between like regexp when then " +
	"else is div mod xor distinct union except intersect partition recursive having limit offset "

// allowedWord reports whether an unquoted word may stand where it does.
func allowedWord(word, after string) bool {
	padded := " " + word + " "
	if strings.HasPrefix(after, "'") { // a charset before a text, or x'41' and b'01'
		return word == "x" || word == "b"
	}
	if strings.HasPrefix(after, "(") {
		return allowed(word) || strings.Contains(grammarWords, padded)
	}
	return !strings.Contains(forbiddenWords, padded) && word[0] != '_'
}

// columnList reports whether the brackets that text begins with name the columns of a common table expression: quoted
// names alone, and AS with a query after them.
func columnList(text string) bool {
	rest := text[1:]
	for !strings.HasPrefix(rest, ")") {
		rest = strings.TrimLeft(rest, " ,")
		if !strings.HasPrefix(rest, "`") {
			return false
		}
		rest = rest[quoted(rest):]
	}
	return strings.HasPrefix(rest, ") AS (")
}
