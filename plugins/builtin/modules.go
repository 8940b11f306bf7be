// Package builtin holds the WebAssembly modules that come with the binary. They are plugins like any other: the host
// reads their manifests, and the operator's config says what they may touch.
//
// The modules are built before the binary by the program in folder make, and embedded from folder dist.
package builtin

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// ErrMissing reports that the binary was built without the modules.
var ErrMissing = errors.New("built-in plugins are missing: run make plugins, then build again")

//go:embed dist
var dist embed.FS

// Module is one built-in module.
type Module struct {
	Name  string // plugin name, as in its manifest
	Bytes []byte // the module, manifest included; the caller must not change it
}

// Plugin is one plugin that comes with the binary.
type Plugin struct {
	Name string // plugin name, as in its manifest
	Dir  string // folder of its main package, from the root of this Go module, with slashes
}

// Plugins lists the plugins that come with the binary, in order of names.
func Plugins() []Plugin {
	return []Plugin{
		{Name: "evidence-guard", Dir: "policies/evidenceguard/module"},
		{Name: "exec-guard", Dir: "policies/execguard/module"},
		{Name: "files", Dir: "plugins/files/module"},
		{Name: "investigation", Dir: "plugins/investigation/module"},
		{Name: "pska-scope", Dir: "policies/pskascope/module"},
		{Name: "semantic-guard", Dir: "policies/semanticguard/module"},
		{Name: "shell", Dir: "plugins/shell/module"},
	}
}

// Modules returns every built-in module, in order of names, or ErrMissing when one was not built.
func Modules() ([]Module, error) { return modulesIn(dist) }

func modulesIn(files fs.FS) ([]Module, error) {
	var modules []Module
	for _, plugin := range Plugins() {
		bytes, err := fs.ReadFile(files, path.Join("dist", plugin.Name+".wasm"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("plugin %s: %w", plugin.Name, ErrMissing)
		}
		if err != nil {
			return nil, fmt.Errorf("read built-in plugin %s: %w", plugin.Name, err)
		}
		modules = append(modules, Module{Name: plugin.Name, Bytes: bytes})
	}
	return modules, nil
}
