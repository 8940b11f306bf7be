package postgres

import (
	"strconv"
	"strings"
)

// dollars writes ?1 and ? in PostgreSQL's words: $1 and so on.
func dollars(statement string) string {
	var text strings.Builder
	for i, ordinal := 0, 0; i < len(statement); i++ {
		if statement[i] != '?' {
			text.WriteByte(statement[i])
			continue
		}
		text.WriteByte('$')
		if i+1 == len(statement) || statement[i+1] < '0' || statement[i+1] > '9' {
			ordinal++
			text.WriteString(strconv.Itoa(ordinal))
		}
	}
	return text.String()
}

// clean replaces in texts what PostgreSQL cannot keep, so that no request of a client is one that cannot be stored.
func clean(args []any) []any {
	kept := make([]any, len(args))
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			arg = storable(text)
		}
		kept[i] = arg
	}
	return kept
}

func storable(text string) string {
	const unknown = "\uFFFD"
	return strings.ReplaceAll(strings.ToValidUTF8(text, unknown), "\x00", unknown)
}
