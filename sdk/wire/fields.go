package wire

import "errors"

// Fields finds the fields of one object among its members. Who writes a payload writes each field once, in its own
// spelling; another case is understood as encoding/json would, and a field that comes twice is refused: two readers
// might not take the same one.
type Fields struct {
	known []string
	seen  uint32
}

// NewFields knows at most 32 fields by their names.
func NewFields(known ...string) Fields { return Fields{known: known} }

// Named returns the field that a member's name stands for, or nothing for one that is not known.
func (f *Fields) Named(r *Reader, name []byte) string {
	i := f.index(name)
	if i < 0 {
		return ""
	}
	if f.seen&(1<<i) != 0 {
		r.Fail(errors.New("the field " + f.known[i] + " stands there twice"))
	}
	f.seen |= 1 << i
	return f.known[i]
}

func (f *Fields) index(name []byte) int {
	for i, known := range f.known {
		if string(name) == known {
			return i
		}
	}
	for i, known := range f.known {
		if SameName(name, known) {
			return i
		}
	}
	return -1
}
