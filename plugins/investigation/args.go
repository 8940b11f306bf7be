package investigation

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/fastreact/fastreact/sdk/wire"
)

// argument reads the one argument that a reader takes. Another name, a name in another case or twice, and what is no
// text are refused, so that what was judged is what is read.
func argument(args json.RawMessage, name string, valid func(string) bool) (string, error) {
	r := wire.NewReader(args)
	if r.Kind() != wire.Object {
		return "", inputInvalid
	}
	given, text := 0, ""
	for key := range r.Members() {
		if string(key) != name {
			r.Fail(inputInvalid)
		}
		given++
		text = r.Text()
	}
	if r.End() != nil || given != 1 || !valid(text) {
		return "", inputInvalid
	}
	return text, nil
}

// isQuery reports whether text is something to look for.
func isQuery(text string) bool {
	return strings.TrimSpace(text) != "" && utf8.RuneCountInString(text) <= maxQuery && !strings.ContainsRune(text, 0)
}
