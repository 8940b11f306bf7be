package pskascope

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// member is one key of a JSON object with its value as it was written.
type member struct {
	key string
	raw json.RawMessage
}

// object is a JSON object in the order it was written. A key may stand in it more than once.
type object []member

var errNoObject = errors.New("not one JSON object")

// readObject takes an object apart without touching its values.
func readObject(raw []byte) (object, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, errNoObject
	}
	var read object
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, errNoObject
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, errNoObject
		}
		text, _ := key.(string)
		read = append(read, member{text, value})
	}
	if _, err := decoder.Token(); err != nil {
		return nil, errNoObject
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errNoObject
	}
	return read, nil
}

// readList takes a list apart. A value that is no list is a list of one; null is an empty one.
func readList(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return []json.RawMessage{raw}
	}
	return list
}

func readText(raw json.RawMessage) (string, bool) {
	var text *string
	if err := json.Unmarshal(raw, &text); err != nil || text == nil {
		return "", false
	}
	return *text, true
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
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(encode(m.key))
		out.WriteByte(':')
		out.Write(m.raw)
	}
	out.WriteByte('}')
	return out.Bytes()
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

// encode writes a string or a list of strings. Such values cannot fail to encode.
func encode[T string | []string](value T) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil {
		panic("pskascope: a string does not encode: " + err.Error())
	}
	return raw
}

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
