package wasm

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

// reportsOf calls a vector that was granted so many bytes and returns what it reported.
func reportsOf(t *testing.T, name string, granted int) []sdk.Progress {
	t.Helper()
	plugin := load(t, newHost(t, Config{}), Module{
		Bytes: wat(t, name), Grants: sdk.Capabilities{Progress: &sdk.ProgressAccess{Bytes: granted}},
	})
	var mu sync.Mutex
	var heard []sdk.Progress
	ctx := sdk.WithProgress(t.Context(), func(p sdk.Progress) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, p)
	})
	if _, err := plugin.Call(ctx, CallContext{}, sdk.Call{Tool: "vector", Args: json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return heard
}

func TestGrantedProgressReachesTheListenerOfTheCall(t *testing.T) {
	want := []sdk.Progress{{Text: "half", Done: new(1.0), Total: new(2.0)}}
	if diff := cmp.Diff(want, reportsOf(t, "abi/import-emit-not-granted", 1000)); diff != "" {
		t.Error(diff)
	}
}

func TestProgressEndsAtItsLimit(t *testing.T) {
	for granted, want := range map[int]int{150: 150, 1 << 20: 1000} { // the manifest asks for 1000
		total := 0
		for _, report := range reportsOf(t, "hostile/emit-flood", granted) {
			total += len(report.Text)
		}
		if total != want {
			t.Errorf("granted %d: %d bytes were reported, want %d", granted, total, want)
		}
	}
}

func TestDeniedProgressNamesTheLineToAdd(t *testing.T) {
	for name, want := range map[string]string{
		"abi/import-emit-not-granted": "grants: {progress: {bytes: 1000}}",
		"abi/import-emit":             "adds capabilities.progress to the manifest",
		"abi/import-emit-in-a-policy": "never granted to a policy",
	} {
		_, err := newHost(t, Config{}).Load(t.Context(), Module{Bytes: wat(t, name), AllowUnpinned: true})
		if err == nil || !strings.Contains(err.Error()+errors.Unwrap(err).Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProgressIsNotGrantedBeyondTheHostsBound(t *testing.T) {
	for _, bytes := range []int{-1, 0, sdk.MaxProgressBytes + 1} {
		grants := sdk.Capabilities{Progress: &sdk.ProgressAccess{Bytes: bytes}}
		if err := Check(Config{}, Module{Bytes: wat(t, "abi/import-emit-not-granted"), AllowUnpinned: true, Grants: grants}); err == nil {
			t.Errorf("%d bytes were granted", bytes)
		}
	}
}
