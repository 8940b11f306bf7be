package investigation

import (
	"errors"

	"github.com/fastreact/fastreact/sdk/wire"
)

var errShape = errors.New("a member has not the form it must have")

// member is a name the contract gives an object's part, and what it may be beside null.
type member struct {
	name string
	kind wire.Kind // Nothing: anything
}

// record is one object of a snapshot: of the members the contract names those that are there, as they are written, in
// the contract's order. Others are ignored.
type record struct {
	form   []member
	values [][]byte // as in form; nil for one that is absent
}

// readRecord reads one object. What is no object, or has a member of another form, fails the reader.
func readRecord(r *wire.Reader, form []member) record {
	rec := record{form, make([][]byte, len(form))}
	if r.Kind() != wire.Object {
		r.Fail(errShape)
		return rec
	}
	for name := range r.Members() {
		at := placeOf(form, name)
		if at < 0 {
			r.Skip()
			continue
		}
		if kind := r.Kind(); kind != wire.Null && form[at].kind != wire.Nothing && kind != form[at].kind {
			r.Fail(errShape)
		}
		rec.values[at] = r.Raw()
	}
	return rec
}

func placeOf(form []member, name []byte) int {
	for i, m := range form {
		if m.name == string(name) {
			return i
		}
	}
	return -1
}

// raw returns a member as it is written; nil when it is absent.
func (rec record) raw(name string) []byte {
	if at := placeOf(rec.form, []byte(name)); at >= 0 {
		return rec.values[at]
	}
	return nil
}

// text returns a member that is a text, and nothing when it is absent or null.
func (rec record) text(name string) string {
	value := rec.raw(name)
	if value == nil {
		return ""
	}
	return wire.NewReader(value).TextOrNull()
}

// object writes the record as a JSON object.
func (rec record) object() ([]byte, error) {
	w := wire.NewWriter(0)
	for i, m := range rec.form {
		if rec.values[i] != nil {
			w.Raw(m.name, rec.values[i])
		}
	}
	return w.End()
}
