package guest

import (
	"context"
	"errors"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/wire"
)

// KV keeps values from call to call, for this plugin and the tenant of the call alone. A module that uses it imports
// fastreact:kv/1 and must request the capability kv in its manifest. Keys have 1 to 512 bytes of UTF-8. A refusal is a
// *sdk.Refusal. Natively it needs WithMemory.
type KV struct{}

// Get returns what is kept under a key, and its version. Version 0 means that nothing is kept.
func (KV) Get(ctx context.Context, key string) (value []byte, version int64, err error) {
	pair, err := keep(ctx, kvGet, writeKV(key, nil, nil))
	return pair.value, pair.version, err
}

// Set keeps a value, whatever is kept.
func (KV) Set(ctx context.Context, key string, value []byte) error {
	_, err := keep(ctx, kvSet, writeKV(key, value, nil))
	return err
}

// SetIf keeps a value if the version that is kept now is the one given, 0 for none, and returns the new version. Where
// another one is kept, the refusal's code is kv_conflict: get it and try again.
func (KV) SetIf(ctx context.Context, key string, value []byte, version int64) (int64, error) {
	pair, err := keep(ctx, kvSet, writeKV(key, value, &version))
	return pair.version, err
}

// Delete forgets a value. One that is not kept is no error.
func (KV) Delete(ctx context.Context, key string) error {
	_, err := keep(ctx, kvDelete, writeKV(key, nil, nil))
	return err
}

// kvOp is one of the imports.
type kvOp int

const (
	kvGet kvOp = iota
	kvSet
	kvDelete
)

// kvPair is what the host answers.
type kvPair struct {
	value   []byte
	version int64
}

var errNoMemory = errors.New("guest.KV needs a host, or natively guest.WithMemory")

func writeKV(key string, value []byte, version *int64) []byte {
	w := wire.NewWriter(answerSize + len(value))
	w.Text("key", key)
	writeBytes(w, "value", value)
	if version != nil {
		w.Whole("if_version", int(*version))
	}
	return finish(w)
}

func readKV(answer []byte) (kvPair, error) {
	var pair kvPair
	var refusal *sdk.Refusal
	r := wire.NewReader(answer)
	m := wire.NewFields("value", "value_base64", "version", "error")
	for name := range r.Members() {
		switch m.Named(r, name) {
		case "value":
			pair.value = []byte(r.TextOrNull())
		case "value_base64":
			pair.value = fromBase64(r)
		case "version":
			pair.version = integer(r)
		case "error":
			refusal = readRefusal(r)
		default:
			r.Skip()
		}
	}
	if err := r.End(); err != nil {
		return kvPair{}, errors.New("read answer of the host: " + err.Error())
	}
	if refusal != nil {
		return kvPair{}, refusal
	}
	if pair.value == nil {
		pair.value = []byte{}
	}
	return pair, nil
}
