package wire

import (
	"errors"
	"iter"
	"strconv"
)

// maxDepth is how deep lists and objects may lie in one another, as in encoding/json.
const maxDepth = 10_000

// Reader reads one JSON text. It keeps its first error; from then on it reads nothing and gives zero values. It is
// not safe for many goroutines.
type Reader struct {
	text  []byte
	at    int // the next byte to read
	depth int
	err   error
}

// NewReader reads from text, which must stay unchanged for as long as the reader and its raw values are used.
func NewReader(text []byte) *Reader { return &Reader{text: text} }

// Kind says what a JSON value is.
type Kind byte

// The kinds of JSON values. Nothing is no kind: the text ends, or what comes begins no value.
const (
	Nothing Kind = iota
	Null
	Bool
	Number
	Text
	List
	Object
)

// Kind says what comes next without reading it.
func (r *Reader) Kind() Kind {
	if r.err != nil {
		return Nothing
	}
	r.space()
	if r.at == len(r.text) {
		return Nothing
	}
	switch c := r.text[r.at]; {
	case c == '"':
		return Text
	case c == '{':
		return Object
	case c == '[':
		return List
	case c == '-' || '0' <= c && c <= '9':
		return Number
	case c == 't' || c == 'f':
		return Bool
	case c == 'n':
		return Null
	}
	return Nothing
}

// Fail ends the reading with err, unless it has failed before. A caller uses it for what it refuses itself.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// End returns the first error. Something other than white space after the value is one.
func (r *Reader) End() error {
	r.space()
	if r.err == nil && r.at != len(r.text) {
		r.fail("something follows the value")
	}
	return r.err
}

// Members goes through an object: for each member it yields the name, after which the caller reads the value. null is
// an object without members. The name is only good until then, and the caller may not leave the loop early.
func (r *Reader) Members() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if r.TakeNull() || !r.open('{', "an object") {
			return
		}
		for first := true; r.more('}', first); first = false {
			name, plain := r.key()
			if !plain {
				name = unescape(name)
			}
			if r.err != nil || !yield(name) {
				return
			}
		}
	}
}

// Elements goes through a list: it yields each element's index, after which the caller reads the element. null is an
// empty list. The caller may not leave the loop early.
func (r *Reader) Elements() iter.Seq[int] {
	return func(yield func(int) bool) {
		if r.TakeNull() || !r.open('[', "a list") {
			return
		}
		for i := 0; r.more(']', i == 0); i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// TakeNull reads a null if one comes next, and reports whether it did.
func (r *Reader) TakeNull() bool {
	if r.Kind() != Null {
		return false
	}
	r.literal("null")
	return r.err == nil
}

// Bool reads true or false.
func (r *Reader) Bool() bool {
	if r.Kind() != Bool {
		r.fail("this is not true or false")
		return false
	}
	if r.text[r.at] == 't' {
		r.literal("true")
		return r.err == nil
	}
	r.literal("false")
	return false
}

// Number reads a number as it is written.
func (r *Reader) Number() string {
	if r.Kind() != Number {
		r.fail("this is not a number")
		return ""
	}
	start := r.at
	r.number()
	if r.err != nil {
		return ""
	}
	return string(r.text[start:r.at])
}

// Texts reads a list of strings. null gives nil, an empty list one that is not nil; a null in it is an empty string.
func (r *Reader) Texts() []string {
	if r.Kind() == Null {
		r.Skip()
		return nil
	}
	texts := []string{}
	for range r.Elements() {
		if r.TakeNull() {
			texts = append(texts, "")
			continue
		}
		texts = append(texts, r.Text())
	}
	return texts
}

// Raw reads any value and returns it as it is written, as a part of the text that the reader reads from.
func (r *Reader) Raw() []byte {
	r.space()
	start := r.at
	r.Skip()
	if r.err != nil {
		return nil
	}
	return r.text[start:r.at:r.at]
}

// fail records what is wrong at the next byte.
func (r *Reader) fail(problem string) {
	if r.err != nil {
		return
	}
	r.err = errors.New("JSON, byte " + strconv.Itoa(r.at) + ": " + problem)
}

func (r *Reader) space() {
	text, at := r.text, r.at
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	r.at = at
}

// open reads the bracket that an object or list begins with.
func (r *Reader) open(bracket byte, what string) bool {
	if r.err != nil {
		return false
	}
	r.space()
	if r.at == len(r.text) || r.text[r.at] != bracket {
		r.fail("this is not " + what)
		return false
	}
	if r.depth++; r.depth > maxDepth {
		r.fail("this is nested too deep")
		return false
	}
	r.at++
	return true
}

// more reads what stands before an element, or the bracket that ends them all. It reports whether one follows.
func (r *Reader) more(bracket byte, first bool) bool {
	if r.err != nil {
		return false
	}
	r.space()
	if r.at == len(r.text) {
		r.fail("the text ends too early")
		return false
	}
	c := r.text[r.at]
	switch {
	case c == bracket:
		r.at++
		r.depth--
		return false
	case first:
		return true
	case c == ',':
		r.at++
		return true
	}
	r.fail("a comma is missing")
	return false
}

// key reads a member's name and the colon, and returns what quoted returns.
func (r *Reader) key() (inner []byte, plain bool) {
	r.space()
	inner, plain = r.quoted()
	r.space()
	if r.err == nil && (r.at == len(r.text) || r.text[r.at] != ':') {
		r.fail("a colon is missing")
	}
	if r.err == nil {
		r.at++
	}
	return inner, plain
}

func (r *Reader) literal(word string) {
	if len(r.text)-r.at < len(word) || string(r.text[r.at:r.at+len(word)]) != word {
		r.fail("this is not " + word)
		return
	}
	r.at += len(word)
}
