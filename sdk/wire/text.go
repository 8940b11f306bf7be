package wire

import (
	"bytes"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// plainByte reports whether c means itself inside a string and needs no closer look.
func plainByte(c byte) bool { return ' ' <= c && c < utf8.RuneSelf && c != '"' && c != '\\' }

// plainSize returns how many bytes at the beginning of text are plain. Eight are looked at together: a bit stays in
// found for each that is a control character, beyond ASCII, a quote or a backslash.
func plainSize(text []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; n+8 <= len(text); n += 8 {
		b := text[n : n+8 : n+8]
		eight := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		quote, escape := eight^ones*'"', eight^ones*'\\'
		found := eight | (eight-ones*' ')&^eight | (quote-ones)&^quote | (escape-ones)&^escape
		if found &= high; found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(text) && plainByte(text[n]) {
		n++
	}
	return n
}

// escapeSize returns how many bytes the escape at the beginning of text has, or 0 when it is none.
func escapeSize(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hexRune(text); ok {
			return 6
		}
	}
	return 0
}

// hexRune reads an escape of the form \u00e4.
func hexRune(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	r := rune(0)
	for _, c := range text[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// unescape gives a string's meaning. Escapes in inner are well formed. A lone surrogate and a byte that is no UTF-8
// become U+FFFD.
func unescape(inner []byte) []byte {
	out := make([]byte, 0, len(inner))
	for len(inner) > 0 {
		if plain := plainSize(inner); plain > 0 {
			out = append(out, inner[:plain]...)
			inner = inner[plain:]
			continue
		}
		switch inner[0] {
		case '\\':
			size := 0
			out, size = appendEscape(out, inner)
			inner = inner[size:]
		default:
			r, size := utf8.DecodeRune(inner)
			out = utf8.AppendRune(out, r)
			inner = inner[size:]
		}
	}
	return out
}

// appendEscape appends what the escape at the beginning of inner means and returns how many bytes it has.
func appendEscape(out, inner []byte) ([]byte, int) {
	if inner[1] != 'u' {
		return append(out, short(inner[1])), 2
	}
	r, _ := hexRune(inner)
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(out, r), 6
	}
	if low, ok := hexRune(inner[6:]); ok {
		if whole := utf16.DecodeRune(r, low); whole != utf8.RuneError {
			return utf8.AppendRune(out, whole), 12
		}
	}
	return utf8.AppendRune(out, utf8.RuneError), 6
}

func short(letter byte) byte {
	switch letter {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return letter // a quote, a backslash or a slash
}

// SameName reports whether a member's name is known but for upper and lower case, as encoding/json sees it.
func SameName(name []byte, known string) bool { return bytes.EqualFold(name, []byte(known)) }
