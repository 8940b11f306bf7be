package release

import "unicode/utf8"

// reading is a text as a person reads it: without letters that nobody sees, without the backslashes by which Markdown
// escapes, and with wide Latin letters as narrow ones.
type reading struct {
	text  string
	place []int // of every byte in the text as it was written; nil when both are the same
}

func read(written string) reading {
	if !disguised(written) {
		return reading{text: written}
	}
	r := reading{place: make([]int, 0, len(written)+1)}
	text := make([]byte, 0, len(written))
	for at := 0; at < len(written); {
		letter, size := utf8.DecodeRuneInString(written[at:])
		switch {
		case unseen(letter), letter == '\\' && at+1 < len(written) && mark(written[at+1]):
		case wide(letter):
			text, r.place = append(text, byte(letter-wideGap)), append(r.place, at)
		default:
			for i := range size {
				text, r.place = append(text, written[at+i]), append(r.place, at+i)
			}
		}
		at += size
	}
	r.text, r.place = string(text), append(r.place, len(written))
	return r
}

// written returns the place that a stretch of the reading, not an empty one, has in the text as it was written.
func (r reading) written(start, end int) (from, to int) {
	if r.place == nil {
		return start, end
	}
	return r.place[start], r.place[end-1] + 1
}

// disguised reports whether a text reads otherwise than it is written.
func disguised(written string) bool {
	for at, letter := range written {
		if unseen(letter) || wide(letter) || letter == '\\' && at+1 < len(written) && mark(written[at+1]) {
			return true
		}
	}
	return false
}

// unseen reports whether a letter is there and takes no room: soft hyphens, joiners, marks of direction.
func unseen(letter rune) bool {
	switch {
	case letter == 0xAD, letter == 0x034F, letter == 0x061C, letter == 0x180E, letter == 0xFEFF,
		letter >= 0x200B && letter <= 0x200F, letter >= 0x202A && letter <= 0x202E, letter >= 0x2060 && letter <= 0x206F,
		letter >= 0xFE00 && letter <= 0xFE0F, letter >= 0xE0000 && letter <= 0xE01EF:
		return true
	}
	return false
}

// wideGap lies between a wide letter and the same narrow one.
const wideGap = 0xFEE0

func wide(letter rune) bool {
	narrow := letter - wideGap
	return narrow > ' ' && narrow < 0x7f && (narrow == '_' || narrow == '-' || !mark(byte(narrow)))
}

// mark reports whether Markdown lets a backslash stand before a byte.
func mark(c byte) bool {
	return c > ' ' && c < 0x7f && (c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' || c > 'z')
}
