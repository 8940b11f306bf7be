package files

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// isBinary reports whether data is no text: it has a NUL byte or is not UTF-8. A rune cut off at the end is
// forgiven, since data may be the head of a file.
func isBinary(data []byte) bool {
	return bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(wholeRunes(data))
}

// wholeRunes drops the beginning of a rune from the end of data.
func wholeRunes(data []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		tail := data[len(data)-back:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return data
			}
			return data[:len(data)-back]
		}
	}
	return data
}

// plural writes a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	switch noun {
	case "entry":
		noun = "entrie"
	case "match":
		noun = "matche"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
