package wasm

import (
	"bytes"
	"testing"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func TestGuestThatCallsTheHostOutOfItsAllocatorIsEnded(t *testing.T) {
	plugin := load(t, newHost(t, Config{World: World{Pairs: &drawers{}}}), Module{
		Bytes: wat(t, "hostile/alloc-calls-back"), Grants: sdk.Capabilities{KV: &sdk.KVAccess{Bytes: 4096}},
	})
	if code := codeOf(t, runAny(t.Context(), plugin)); code != run.PluginTrapped {
		t.Errorf("it ended with %q", code)
	}
}

// endless is a request that is no JSON, which shows only to who reads all of it.
func endless(size int) []byte { return append([]byte(`{"key":"`), bytes.Repeat([]byte("a"), size)...) }

func TestRequestThatIsTooLongIsRefusedBeforeItIsRead(t *testing.T) {
	u := &using{pairs: &drawers{}}
	for name, do := range map[string]func(*using, []byte) any{
		"get": func(u *using, raw []byte) any { return keyed((*using).get)(t.Context(), u, raw) },
		"set": func(u *using, raw []byte) any { return keyed((*using).set)(t.Context(), u, raw) },
	} {
		if got := do(u, endless(maxKVRequest)); got != refused(kvTooLarge, "The request is larger than any pair.") {
			t.Errorf("%s: %v", name, got)
		}
	}
	u.policy.Limits.Bytes = 1000
	got, isRefusal := sendHTTP(t.Context(), u, endless(2000+httpRequestSpare)).(capabilityFailure)
	if !isRefusal || got.Error.Code != string(egress.TooLarge) {
		t.Errorf("send: %v", got)
	}
}
