package wasm

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"unicode/utf8"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Bounds of one pair, whatever was granted.
const (
	maxKeyBytes   = 512
	maxValueBytes = 1 << 20
	maxKVRequest  = 6*(maxKeyBytes+maxValueBytes) + 4<<10 // every byte escaped as \u0041
)

// Codes of fastreact:kv/1.
const (
	kvBadRequest  = "kv_bad_request"     // no object, or no key of 1 to 512 bytes of UTF-8
	kvTooLarge    = "kv_value_too_large" // the value has more than 1 MiB
	kvFull        = "kv_full"            // keys and values would take more than was granted
	kvConflict    = "kv_conflict"        // another version is kept than the one expected
	kvUnavailable = "kv_unavailable"     // the store does not answer
)

// kvRequest is what a guest gives to get, set and delete. Whose drawer it is stands in no field.
type kvRequest struct {
	Key         string `json:"key"`
	Value       string `json:"value"`
	ValueBase64 []byte `json:"value_base64"`
	IfVersion   *int64 `json:"if_version"` // set only: the version that must be kept now, 0 for none
}

type kvPair struct {
	Found       bool   `json:"found"`
	Value       string `json:"value,omitempty"`
	ValueBase64 string `json:"value_base64,omitempty"`
	Version     int64  `json:"version,omitempty"`
}

type kvSet struct {
	Version int64 `json:"version"`
}

type kvDeleted struct {
	Found bool `json:"found"`
}

// serveKV instantiates fastreact:kv/1.
func serveKV(ctx context.Context, runtime wazero.Runtime) error {
	return serveAsked(ctx, runtime, moduleKV, map[string]api.GoModuleFunc{
		"get": asked(keyed((*using).get)), "set": asked(keyed((*using).set)), "delete": asked(keyed((*using).delete)),
	})
}

// keyed reads a request before it is served, and hides what the store said when it failed.
func keyed(serve func(*using, context.Context, kvRequest) (any, error)) func(context.Context, *using, []byte) any {
	return func(ctx context.Context, u *using, raw []byte) any {
		if len(raw) > maxKVRequest {
			return refused(kvTooLarge, "The request is larger than any pair.")
		}
		var request kvRequest
		err := json.Unmarshal(raw, &request)
		if size := len(request.Key); err != nil || size == 0 || size > maxKeyBytes || !utf8.ValidString(request.Key) {
			return refused(kvBadRequest, "The request is no object with a key of 1 to 512 bytes.")
		}
		if u.pairs == nil {
			return refused(kvUnavailable, "Nothing is kept here.")
		}
		answer, err := serve(u, ctx, request)
		if err != nil {
			u.log.Warn("a plugin's values cannot be reached", slog.Any("error", err))
			return refused(kvUnavailable, "The store does not answer.")
		}
		return answer
	}
}

func (u *using) get(ctx context.Context, request kvRequest) (any, error) {
	pair, found, err := u.pairs.Pair(ctx, u.drawer, request.Key)
	if err != nil || !found {
		return kvPair{}, err
	}
	answer := kvPair{Found: true, Version: pair.Version}
	if utf8.Valid(pair.Value) {
		answer.Value = string(pair.Value)
	} else {
		answer.ValueBase64 = base64.StdEncoding.EncodeToString(pair.Value)
	}
	return answer, nil
}

func (u *using) set(ctx context.Context, request kvRequest) (any, error) {
	value := request.ValueBase64
	if len(value) == 0 {
		value = []byte(request.Value)
	} else if request.Value != "" {
		return refused(kvBadRequest, "The request has both value and value_base64."), nil
	}
	if len(value) > maxValueBytes {
		return refused(kvTooLarge, "The value has more than 1 MiB."), nil
	}
	outcome, err := u.pairs.PutPair(ctx, u.drawer, run.Put{
		Key: request.Key, Value: value, IfVersion: request.IfVersion, Limit: u.limit,
	})
	switch {
	case err != nil:
		return nil, err
	case outcome.Full:
		return refused(kvFull, "Keys and values would take more bytes than were granted."), nil
	case outcome.Conflict:
		return refused(kvConflict, "Another version is kept than the one expected."), nil
	}
	return kvSet{outcome.Version}, nil
}

func (u *using) delete(ctx context.Context, request kvRequest) (any, error) {
	found, err := u.pairs.DropPair(ctx, u.drawer, request.Key)
	return kvDeleted{found}, err
}
