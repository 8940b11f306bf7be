package wasm

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fastreact/fastreact/sdk"
)

func TestInspectNamesWhatAModuleMayDo(t *testing.T) {
	module := wat(t, "abi/import-files-not-granted")
	got, err := Inspect(module)
	if err != nil {
		t.Fatal(err)
	}
	want := Inspection{
		Name: "vector", Version: "1", Kind: sdk.KindTool, ABI: 1,
		Digest: "sha256:" + hexDigest(module), Size: len(module),
		Imports:      []string{"wasi_snapshot_preview1 path_open"},
		Exports:      []string{"fastreact_abi", "fastreact_alloc", "fastreact_call", "memory"},
		Capabilities: []string{"files"}, Unsupported: []string{},
		Requested: sdk.Capabilities{Files: []sdk.FileAccess{{At: "/", Mode: sdk.ReadWrite}}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Inspection{}, "Manifest")); diff != "" {
		t.Error(diff)
	}
}

func TestInspectShowsWhatTheHostWouldRefuse(t *testing.T) {
	got, err := Inspect(wat(t, "abi/import-log-of-another-version"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"fastreact:log/2 write"}, got.Unsupported); diff != "" {
		t.Error(diff)
	}
}

func TestGoPolicyImportsTheBaseSetOnly(t *testing.T) {
	module, err := goGuests.policy()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Inspect(module)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"log"}, got.Capabilities); diff != "" {
		t.Error(diff)
	}
}

func TestModuleOfTooManyExportsIsRefused(t *testing.T) {
	section := binary.AppendUvarint(nil, maxItems+1)
	for n := range maxItems + 1 {
		name := fmt.Appendf(nil, "%06d", n)
		section = append(append(append(section, byte(len(name))), name...), kindFunction, 0)
	}
	module := append([]byte("\x00asm\x01\x00\x00\x00"), sectionExport)
	module = append(binary.AppendUvarint(module, uint64(len(section))), section...)
	if _, err := Inspect(module); err == nil || !strings.Contains(err.Error(), "100001 items") {
		t.Error(err)
	}
}

func FuzzInspect(f *testing.F) {
	for _, name := range []string{"abi/policy-allows", "abi/import-memory", "abi/import-global", "hostile/log-flood"} {
		f.Add(wat(f, name))
	}
	f.Fuzz(func(t *testing.T, module []byte) {
		inspection, err := Inspect(module)
		if err == nil && inspection.ABI != sdk.ABIVersion {
			t.Errorf("ABI %d passed", inspection.ABI)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"action":"allow"}`))
	f.Add([]byte(`{"action":"allow"} x`))
	f.Add([]byte(` [] `))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if opinion, err := decodeOpinion(answer); (err == nil) != opinion.Action.Valid() {
			t.Errorf("%q gave %v, %v", answer, opinion, err)
		}
	})
}
