package builtin

import (
	"errors"
	"slices"
	"testing"
	"testing/fstest"
)

func TestMissingModuleSaysHowToBuildIt(t *testing.T) {
	files := fstest.MapFS{"dist/exec-guard.wasm": {Data: []byte("x")}}
	if _, err := modulesIn(files); !errors.Is(err, ErrMissing) {
		t.Errorf("err = %v, want ErrMissing", err)
	}
}

func TestModulesComeInOrderOfNames(t *testing.T) {
	files := fstest.MapFS{}
	for _, plugin := range Plugins() {
		files["dist/"+plugin.Name+".wasm"] = &fstest.MapFile{Data: []byte(plugin.Name)}
	}
	modules, err := modulesIn(files)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, module := range modules {
		names = append(names, string(module.Bytes))
	}
	if !slices.IsSorted(names) || len(names) != len(Plugins()) {
		t.Errorf("modules = %q", names)
	}
}
