package builtintest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/build"
)

// BenchmarkGoGuestAnswersAQuestion asks a Go policy one question of about 500 bytes in a bare engine, so that what the
// SDK costs stands by itself: no metering, no pool, only memory put back after each call.
func BenchmarkGoGuestAnswersAQuestion(b *testing.B) {
	module, input := goExample(b), fiveHundredBytes(b)
	guest := startGuest(b, module)
	image, _ := guest.Memory().Read(0, guest.Memory().Size())
	image = bytes.Clone(image)
	var restoring time.Duration
	for b.Loop() {
		ask(b, guest, sdk.OpEvaluate, input)
		b.StopTimer()
		begin := time.Now()
		guest.Memory().Write(0, image)
		restoring += time.Since(begin)
		b.StartTimer()
	}
	b.ReportMetric(float64(restoring.Nanoseconds())/float64(b.N), "restore-ns/op")
	b.ReportMetric(float64(len(module)), "module-bytes")
	b.ReportMetric(float64(guest.Memory().Size()), "memory-bytes")
}

// BenchmarkNativeAnswersAQuestion is the yardstick: encoding/json without a sandbox.
func BenchmarkNativeAnswersAQuestion(b *testing.B) {
	input := fiveHundredBytes(b)
	for b.Loop() {
		var question sdk.Question
		var args struct{ Path string }
		if json.Unmarshal(input, &question) != nil || json.Unmarshal(question.Args, &args) != nil || args.Path == "" {
			b.Fatal("not read")
		}
		if _, err := json.Marshal(sdk.Opinion{Action: sdk.Allow}); err != nil {
			b.Fatal(err)
		}
	}
}

func goExample(b *testing.B) []byte {
	b.Helper()
	path, err := build.Dir(b.Context(), home+"/examples/policy-only-notes")
	if err != nil {
		b.Fatal(err)
	}
	module, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return module
}

func fiveHundredBytes(b *testing.B) []byte {
	b.Helper()
	input, err := json.Marshal(sdk.Question{
		Tool: "write_file",
		Args: json.RawMessage(`{"path":"plans/2026/november.md","content":"Ask the harbour master about the two berths, then answer the letter of the sailing club."}`),
		Identity: sdk.Identity{
			UserKey: "pska:user_primary", TenantKey: "pska", UserID: "user_primary", Caller: "pska",
			Purpose: "qa", Roles: []string{"reader", "writer"},
		},
		Scope: &sdk.Scope{Mode: sdk.Hard, KnowledgeBaseIDs: []string{"kb_harbour"}},
		Now:   time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Static: sdk.Opinion{Action: sdk.Caution, Reason: "It writes."},
	})
	if err != nil || len(input) < 450 || len(input) > 600 {
		b.Fatalf("%d bytes, %v", len(input), err)
	}
	return input
}

// goGuest is an instance with its functions at hand: the engine makes a stack for each one it looks up.
type goGuest struct {
	api.Module
	alloc, call api.Function
}

func startGuest(b *testing.B, module []byte) goGuest {
	b.Helper()
	ctx := context.Background()
	engine := wazero.NewRuntime(ctx)
	b.Cleanup(func() { _ = engine.Close(ctx) })
	wasi_snapshot_preview1.MustInstantiate(ctx, engine)
	instance, err := engine.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithStartFunctions("_initialize").WithStderr(os.Stderr))
	if err != nil {
		b.Fatal(err)
	}
	guest := goGuest{instance, instance.ExportedFunction("fastreact_alloc"), instance.ExportedFunction("fastreact_call")}
	ask(b, guest, sdk.OpEvaluate, fiveHundredBytes(b))
	return guest
}

func ask(b *testing.B, guest goGuest, op sdk.Op, input []byte) {
	ctx := context.Background()
	at, err := guest.alloc.Call(ctx, uint64(len(input)))
	if err != nil || !guest.Memory().Write(uint32(at[0]), input) {
		b.Fatal(err)
	}
	packed, err := guest.call.Call(ctx, uint64(op), at[0], uint64(len(input)))
	if err != nil || packed[0] == 0 {
		b.Fatal("no answer", err)
	}
}
