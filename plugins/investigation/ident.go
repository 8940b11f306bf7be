package investigation

import (
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/sdk/wire"
)

// fold makes ids comparable: the digits of a UUID are the same in either case.
func fold(id string) string { return strings.ToLower(id) }

// isObjectID reports whether text is the id of an object: a UUID, with or without a kind and a colon before it.
func isObjectID(text string) bool {
	kind, uuid, both := strings.Cut(text, ":")
	if !both {
		return isUUID(text)
	}
	return isKind(kind) && isUUID(uuid)
}

func isKind(text string) bool {
	if text == "" || len(text) > maxKind {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if 'a' <= c && c <= 'z' || i > 0 && (isDigit(c) || c == '_' || c == '-') {
			continue
		}
		return false
	}
	return true
}

func isUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if text[i] != '-' {
				return false
			}
			continue
		}
		if c := text[i] | 0x20; !isDigit(text[i]) && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// wholeNumber reads a number from 0 to 2⁵³-1, as every reader of JSON understands it; absent and null are 0.
func wholeNumber(value []byte) (int, bool) {
	r := wire.NewReader(value)
	if value == nil || r.TakeNull() {
		return 0, true
	}
	number, err := strconv.ParseInt(r.Number(), 10, 64)
	return int(number), err == nil && 0 <= number && number < 1<<53
}
