package wire

import (
	"bytes"
	"unicode/utf8"
)

// Text reads a string.
func (r *Reader) Text() string {
	r.space()
	inner, plain := r.quoted()
	if plain {
		return string(inner)
	}
	return string(unescape(inner))
}

// TextOrNull reads a string; null is an empty one.
func (r *Reader) TextOrNull() string {
	if r.TakeNull() {
		return ""
	}
	return r.Text()
}

// quoted reads a string and returns what stands between its quotes, and whether that is its meaning as well.
func (r *Reader) quoted() (inner []byte, plain bool) {
	if r.err != nil || r.at == len(r.text) || r.text[r.at] != '"' {
		r.fail("this is not a string")
		return nil, true
	}
	start, text := r.at+1, r.text
	at := start + plainSize(text[start:])
	if at < len(text) && text[at] == '"' {
		r.at = at + 1
		return text[start:at], true
	}
	return r.winding(start, at)
}

// winding reads on from the first byte of a string that is not plain ASCII.
func (r *Reader) winding(start, at int) ([]byte, bool) {
	for ; at < len(r.text); at++ {
		if at += plainSize(r.text[at:]); at == len(r.text) {
			break
		}
		switch c := r.text[at]; {
		case c == '"':
			r.at = at + 1
			inner := r.text[start:at]
			return inner, bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner)
		case c < ' ':
			r.at = at
			r.fail("a control character stands in a string")
			return nil, true
		case c == '\\':
			r.at = at
			size := escapeSize(r.text[at:])
			if size == 0 {
				r.fail("this is no escape")
				return nil, true
			}
			at += size - 1
		}
	}
	r.at = len(r.text)
	r.fail("a string does not end")
	return nil, true
}
