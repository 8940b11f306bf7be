//go:build !wasip1

package guest

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
)

type memoryKey struct{}

// store is a drawer in memory. Its versions are as a host's: none comes twice.
type store struct {
	mu    sync.Mutex
	pairs map[string]kvPair
	last  int64
}

// WithMemory returns a context under which KV keeps values in memory, for go test. Contexts made of it share them.
func WithMemory(ctx context.Context) context.Context {
	return context.WithValue(ctx, memoryKey{}, &store{pairs: map[string]kvPair{}})
}

func keep(ctx context.Context, op kvOp, request []byte) (kvPair, error) {
	s, ok := ctx.Value(memoryKey{}).(*store)
	if !ok {
		return kvPair{}, errNoMemory
	}
	answer, err := s.answer(op, request)
	if err != nil {
		return kvPair{}, err
	}
	return readKV(answer)
}

// answer does what a host does, through the same JSON.
func (s *store) answer(op kvOp, raw []byte) ([]byte, error) {
	var request struct {
		Key         string `json:"key"`
		Value       string `json:"value"`
		ValueBase64 []byte `json:"value_base64"`
		IfVersion   *int64 `json:"if_version"`
	}
	if err := json.Unmarshal(raw, &request); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, found := s.pairs[request.Key]
	switch {
	case request.Key == "" || len(request.Key) > 512:
		return []byte(`{"error":{"code":"kv_bad_request","message":"The request is no object with a key of 1 to 512 bytes."}}`), nil
	case op == kvDelete:
		delete(s.pairs, request.Key)
		return []byte(`{}`), nil
	case op == kvSet && request.IfVersion != nil && *request.IfVersion != kept.version:
		return []byte(`{"error":{"code":"kv_conflict","message":"Another version is kept than the one expected."}}`), nil
	case op == kvSet:
		s.last++
		value := request.ValueBase64
		if value == nil {
			value = []byte(request.Value)
		}
		s.pairs[request.Key] = kvPair{value, s.last}
		return []byte(`{"version":` + strconv.FormatInt(s.last, 10) + `}`), nil
	case !found:
		return []byte(`{"found":false}`), nil
	}
	return json.Marshal(map[string]any{"value_base64": kept.value, "version": kept.version})
}
