package semanticguard

import "strings"

// holdsSQL reports whether a text holds an SQL statement, or a part that nothing else looks like. English has the
// words too, so each counts only in SQL's own surroundings.
func holdsSQL(text, plain string) bool {
	for _, part := range []string{
		"information_schema", "performance_schema", "pg_catalog", "mysql.user", "into outfile", "into dumpfile", "load_file(",
		"union select", "union all select", "select *", "select @@", "select count(", "select distinct ",
	} {
		if strings.Contains(plain, part) {
			return true
		}
	}
	words, shouted := sqlWords(plain), strings.Contains(text, "SELECT")
	for i, word := range words {
		if statement(word, words[i+1:], shouted) {
			return true
		}
	}
	return false
}

// sqlWords cuts a text into words and single signs.
func sqlWords(plain string) []string {
	var words []string
	start := -1
	for i := 0; i <= len(plain); i++ {
		if i < len(plain) && (plain[i] >= 0x80 || plain[i] == '_' || plain[i] == '.' || isAlnum(plain[i])) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			words = append(words, plain[start:i])
			start = -1
		}
		if i < len(plain) && plain[i] != ' ' && plain[i] != '\'' && plain[i] != '"' {
			words = append(words, plain[i:i+1])
		}
	}
	return words
}

func isAlnum(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// statement reports whether a statement begins with a word. shouted says that SELECT stands there in capitals.
func statement(word string, next []string, shouted bool) bool {
	at := func(i int) string {
		if i < len(next) {
			return next[i]
		}
		return ""
	}
	switch word {
	case "select":
		return selects(next, shouted)
	case "insert", "replace":
		return at(0) == "into" && !article(at(1))
	case "delete":
		return at(0) == "from" && !article(at(1))
	case "update":
		return at(1) == "set" && among("=", next, 8)
	case "drop", "alter", "create", "truncate":
		return (at(0) == "table" || at(0) == "database" || at(0) == "index" || at(0) == "view") && at(1) != "" && !article(at(1))
	case "show":
		return at(0) == "processlist" || at(0) == "databases" || at(0) == "grants" || at(0) == "full" && at(1) == "processlist" ||
			at(0) == "create" && at(1) == "table" || at(0) == "engine"
	case "explain", "describe":
		return at(0) == "select" || at(0) == "update" || at(0) == "delete" || at(0) == "analyze"
	case "grant", "revoke":
		return at(0) == "all" && (at(1) == "on" || at(1) == "privileges")
	}
	return false
}

// selects reports whether what follows the word select is SQL: a list and a table, or a function.
func selects(next []string, shouted bool) bool {
	if len(next) > 1 && (next[1] == "(" || strings.Trim(next[0], "0123456789") == "" && (next[1] == "," || next[1] == ";" || next[1] == "from")) {
		return true
	}
	for i, word := range next[:min(len(next), 80)] {
		if word != "from" {
			continue
		}
		list, rest := next[:i], next[i+1:]
		return shouted || among("*", list, 80) || among("(", list, 80) || among(",", list, 80) || among("where", rest, 8) ||
			among("join", rest, 8) || among("limit", rest, 8) || among(";", rest, 3) || among("order", rest, 8)
	}
	return false
}

// among reports whether a word is among the first of some.
func among(word string, words []string, first int) bool {
	for _, each := range words[:min(len(words), first)] {
		if each == word {
			return true
		}
	}
	return false
}

// article reports whether a word goes before an English noun, and not before the name of a table.
func article(word string) bool {
	switch word {
	case "the", "a", "an", "your", "this", "that", "its", "their", "our", "each", "every", "any", "all", "":
		return true
	}
	return false
}
