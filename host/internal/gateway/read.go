package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// errNotJSON reports bytes that are not one JSON object in UTF-8, or nest too deeply.
var errNotJSON = errors.New("not one JSON object")

// errAmbiguous reports JSON that two readers may understand differently: a key that stands twice in one object, or a
// NUL in a text.
var errAmbiguous = errors.New("ambiguous JSON")

// maxDepth is how deeply a client's JSON may nest.
const maxDepth = 64

// readObject reads one JSON object whose keys, at every depth, stand once. The members are as they were written. The
// error is errNotJSON or errAmbiguous.
func readObject(raw []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(raw) || !bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) {
		return nil, errNotJSON
	}
	var ambiguous bool
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	walk := walker{decoder: decoder, ambiguous: &ambiguous}
	if err := walk.value(0); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotJSON, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: bytes after it", errNotJSON)
	}
	if ambiguous {
		return nil, errAmbiguous
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotJSON, err)
	}
	return members, nil
}

// walker reads through JSON to the end, so that what is no JSON is never called ambiguous.
type walker struct {
	decoder   *json.Decoder
	ambiguous *bool
}

func (w walker) value(depth int) error {
	token, err := w.decoder.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case string:
		w.suspect(strings.ContainsRune(token, 0))
	case json.Delim:
		if depth >= maxDepth {
			return fmt.Errorf("more than %d levels", maxDepth)
		}
		return w.members(token == '{', depth+1)
	}
	return nil
}

// members reads what stands within an object or a list, and its end.
func (w walker) members(keyed bool, depth int) error {
	seen := map[string]bool{}
	for w.decoder.More() {
		if err := w.key(keyed, seen); err != nil {
			return err
		}
		if err := w.value(depth); err != nil {
			return err
		}
	}
	_, err := w.decoder.Token()
	return err
}

func (w walker) key(keyed bool, seen map[string]bool) error {
	if !keyed {
		return nil
	}
	token, err := w.decoder.Token()
	if err != nil {
		return err
	}
	key, _ := token.(string)
	w.suspect(seen[key] || strings.ContainsRune(key, 0))
	seen[key] = true
	return nil
}

func (w walker) suspect(ambiguous bool) { *w.ambiguous = *w.ambiguous || ambiguous }
