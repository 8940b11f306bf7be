package pskascope

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/fastreact/fastreact/sdk/wire"
)

// member is one key of a JSON object with its value as it was written.
type member struct {
	key string
	raw json.RawMessage
}

// object is a JSON object in the order it was written. A key may stand in it more than once.
type object []member

var errNoObject = errors.New("the arguments are not one JSON object")

// readObject takes an object apart without touching its values.
func readObject(raw []byte) (object, error) {
	r := wire.NewReader(raw)
	if r.Kind() != wire.Object {
		return nil, errNoObject
	}
	var read object
	for name := range r.Members() {
		read = append(read, member{string(name), r.Raw()})
	}
	if r.End() != nil {
		return nil, errNoObject
	}
	return read, nil
}

// readList takes a list apart. A value that is no list is a list of one; null is an empty one.
func readList(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	r := wire.NewReader(raw)
	for range r.Elements() {
		list = append(list, r.Raw())
	}
	if r.End() != nil {
		return []json.RawMessage{raw}
	}
	return list
}

func readText(raw json.RawMessage) (string, bool) {
	r := wire.NewReader(raw)
	text := r.Text()
	return text, r.End() == nil
}

// all returns the values of every member with exactly this key.
func (o object) all(key string) []json.RawMessage {
	var values []json.RawMessage
	for _, m := range o {
		if m.key == key {
			values = append(values, m.raw)
		}
	}
	return values
}

// get returns the last value of a key, which is the one most readers see.
func (o object) get(key string) (json.RawMessage, bool) {
	values := o.all(key)
	if len(values) == 0 {
		return nil, false
	}
	return values[len(values)-1], true
}

// set replaces a key's value, or adds the key at the end.
func (o *object) set(key string, raw json.RawMessage) {
	kept := (*o)[:0:0]
	for _, m := range *o {
		if m.key != key {
			kept = append(kept, m)
		}
	}
	*o = append(kept, member{key, raw})
}

// encode writes the object. Values are written as they were read.
func (o object) encode() json.RawMessage {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(wire.AppendText(out, m.key), ':')
		out = append(out, m.raw...)
	}
	return append(out, '}')
}

// encodeList writes a list of values as they were read.
func encodeList(list []json.RawMessage) json.RawMessage {
	return append(append([]byte{'['}, bytes.Join(asBytes(list), []byte{','})...), ']')
}

func asBytes(list []json.RawMessage) [][]byte {
	all := make([][]byte, len(list))
	for i, raw := range list {
		all[i] = raw
	}
	return all
}

func encode(text string) json.RawMessage { return wire.AppendText(nil, text) }

func encodeTexts(texts []string) json.RawMessage { return wire.AppendTexts(nil, texts) }

// among reports whether key is one of names in any mixture of upper and lower case: lenient readers take them for
// the same key.
func among(key string, names ...string) bool {
	for _, name := range names {
		if strings.EqualFold(key, name) {
			return true
		}
	}
	return false
}
