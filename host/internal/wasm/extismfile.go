package wasm

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	extismsdk "github.com/extism/go-sdk"

	"github.com/fastreact/fastreact/sdk"
)

// extismFile is a standard Extism manifest file. What it allows is a request here: the operator grants.
type extismFile struct{ manifest extismsdk.Manifest }

// maxExtismFile is the size of a manifest file with a module in it, as base64.
const maxExtismFile = 2 * defaultModuleBytes

func readExtismFile(raw []byte) (extismFile, error) {
	if len(raw) > maxExtismFile {
		return extismFile{}, fmt.Errorf("extism manifest: it has %d bytes, the limit is %d", len(raw), maxExtismFile)
	}
	var file extismFile
	if err := json.Unmarshal(raw, &file.manifest); err != nil {
		return extismFile{}, fmt.Errorf("extism manifest: %w", err)
	}
	return file, nil
}

// ExtismModule says where the module of an Extism manifest file is: in the file itself, or in another one.
type ExtismModule struct {
	Path string // empty when Data holds the module
	Data []byte
	Hash string // SHA-256, hexadecimal digits; empty: the file does not say
}

// ReadExtismModule reads the one module that an Extism manifest file names. Nothing is fetched from anywhere.
func ReadExtismModule(raw []byte) (ExtismModule, error) {
	file, err := readExtismFile(raw)
	if err != nil {
		return ExtismModule{}, err
	}
	if count := len(file.manifest.Wasm); count != 1 {
		return ExtismModule{}, fmt.Errorf("extism manifest: it names %d modules; this host runs plugins of one module each", count)
	}
	switch module := file.manifest.Wasm[0].(type) {
	case extismsdk.WasmFile:
		return ExtismModule{Path: module.Path, Hash: module.Hash}, nil
	case extismsdk.WasmData:
		return ExtismModule{Data: module.Data, Hash: module.Hash}, nil
	}
	return ExtismModule{}, errors.New("extism manifest: wasm[0].url: nothing is fetched; download and review the module, then name its path")
}

// request adds what the file asks for to a plugin's manifest.
func (f extismFile) request(manifest sdk.Manifest) sdk.Manifest {
	asked := &manifest.Capabilities
	asked.Files = slices.Clone(asked.Files)
	for _, host := range slices.Sorted(maps.Keys(f.manifest.AllowedPaths)) {
		asked.Files = withFile(asked.Files, host, f.manifest.AllowedPaths[host])
	}
	asked.HTTP = slices.Clone(asked.HTTP)
	for _, host := range f.manifest.AllowedHosts {
		if sdk.CheckHost(host) == nil { // a pattern names nobody; the plugin's own manifest does
			asked.HTTP = append(asked.HTTP, originsOf(host)...)
		}
	}
	if f.manifest.Memory != nil {
		manifest.Limits.MemoryPages = tighter(manifest.Limits.MemoryPages, f.manifest.Memory.MaxPages)
	}
	if f.manifest.Timeout > 0 {
		wall := sdk.Duration(min(f.manifest.Timeout, uint64(24*time.Hour/time.Millisecond))) * sdk.Duration(time.Millisecond)
		manifest.Limits.Wall = tighter(manifest.Limits.Wall, wall)
	}
	return manifest
}

// withFile adds the request for one allowed path. The host's folder in it is the author's idea; the operator names one.
func withFile(files []sdk.FileAccess, host, at string) []sdk.FileAccess {
	at = path.Clean("/" + at)
	if slices.ContainsFunc(files, func(f sdk.FileAccess) bool { return f.At == at }) {
		return files
	}
	mode := sdk.ReadWrite
	if strings.HasPrefix(host, "ro:") {
		mode = sdk.ReadOnly
	}
	return append(files, sdk.FileAccess{At: at, Mode: mode})
}

// originsOf returns what Extism means by an allowed host: both schemes and all methods, at the usual ports.
func originsOf(host string) []sdk.HTTPAccess {
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
	return []sdk.HTTPAccess{{Scheme: "https", Host: host, Methods: methods}, {Scheme: "http", Host: host, Methods: methods}}
}

// tighter returns the smaller of two bounds, of which 0 is none.
func tighter[N uint32 | sdk.Duration | int | int64](a, b N) N {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// settings returns the file's own config.
func (f extismFile) settings() map[string]string { return f.manifest.Config }
