package gateway

import (
	"encoding/json"
	"errors"
)

// ErrNotJSON reports bytes that are not one JSON value in UTF-8, or nest too deeply.
var ErrNotJSON = errors.New("not one JSON value")

// ErrAmbiguous reports JSON that two readers may understand differently: a key twice in one object, or a NUL in a text.
var ErrAmbiguous = errors.New("ambiguous JSON")

// ReadObject reads one JSON object whose keys, at every depth, stand once. The members are as they were written. The
// error is ErrNotJSON or ErrAmbiguous.
func ReadObject(raw []byte) (map[string]json.RawMessage, error) {
	return nil, ErrNotJSON
}
