// Package schema publishes the JSON Schemas of guest ABI v1: every payload that crosses the border between the host
// and a plugin, and the manifest. They are for authors in any language; the Go types stand in package sdk.
//
// Payloads are open: a reader ignores fields it does not know. Only the manifest is closed.
package schema

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// Base is the prefix of every schema's $id; a file name follows it.
const Base = "https://github.com/fastreact/fastreact/sdk/schema/v1/"

//go:embed v1/*.json
var files embed.FS

// Names lists the schemas in alphabetical order, such as "call" or "manifest".
func Names() ([]string, error) {
	entries, err := fs.ReadDir(files, "v1")
	if err != nil {
		return nil, fmt.Errorf("list schemas: %w", err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".json"))
	}
	return names, nil
}

// Read returns the JSON text of one schema.
func Read(name string) ([]byte, error) {
	text, err := files.ReadFile("v1/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("no schema %q: %w", name, err)
	}
	return text, nil
}
