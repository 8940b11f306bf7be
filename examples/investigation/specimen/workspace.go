// Package specimen makes invented investigations, the same bytes each time: two to look at, and one whose texts try to
// be more than texts, for tests. No person, ship or place in them exists.
package specimen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// The files of a workspace.
const (
	CoreName = "core-snapshot.json"
	JobsName = "jobs-snapshot.json"
)

// Workspace is the content of a workspace's two files.
type Workspace struct {
	Core []byte // CoreName: the graph
	Jobs []byte // JobsName
}

// Write puts the files into a folder, which is made when it is not there. Each appears whole or not at all.
func Write(dir string, w Workspace) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write workspace: %w", err)
	}
	if err := place(filepath.Join(dir, CoreName), w.Core); err != nil {
		return err
	}
	return place(filepath.Join(dir, JobsName), w.Jobs)
}

func place(name string, content []byte) error {
	part := name + ".part"
	if err := os.WriteFile(part, content, 0o644); err != nil {
		return fmt.Errorf("write workspace: %w", err)
	}
	if err := os.Rename(part, name); err != nil {
		return fmt.Errorf("write workspace: %w", err)
	}
	return nil
}

// document is a value as JSON that people can read, with its texts as they are.
func document(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		panic(fmt.Sprintf("specimen: texts and numbers are always JSON: %v", err))
	}
	return text.Bytes()
}
