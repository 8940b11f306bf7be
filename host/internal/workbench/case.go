package workbench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/fastreact/fastreact/sdk"
)

// Case is one call of a plugin and what must come of it. It is read from a txtar archive, whose files are its parts.
type Case struct {
	Name    string // the archive's name without .txtar
	Comment string // what it shows, in the author's words
	Op      sdk.Op
	Input   json.RawMessage   // as the guest sees it
	Grants  *sdk.Capabilities // nil: everything that the manifest requests
	Limits  sdk.Limits
	Files   map[string][]byte // of the workspace, by slash path, before the call
	HTTP    []Recording
	KV      map[string]string // of the plugin's store, before the call
	Secrets map[string]string // by name
	Want    Want

	path    string         // of the archive; empty for a vector
	archive *txtar.Archive // nil for a vector
}

// Want is what a case wants. What is nil or empty is not compared.
type Want struct {
	Answer   json.RawMessage   // the named fields
	Exact    json.RawMessage   // the whole answer
	Vector   *sdk.Vector       // fields, compared as a host compares them when it tests a module
	Error    string            // a stable code
	Files    map[string][]byte // of the workspace afterwards
	NoFiles  []string
	KV       map[string]string // the whole store afterwards
	Progress []json.RawMessage // each compared as Answer
}

// Recording is one exchange over HTTP that a case plays to the plugin.
type Recording struct {
	Request  RecordedRequest  `json:"request"`
	Response RecordedResponse `json:"response"`
}

// RecordedRequest is what the plugin must send. A field that is left out is not compared.
type RecordedRequest struct {
	Method  string            `json:"method,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    *string           `json:"body,omitempty"`
}

// RecordedResponse is what the plugin gets. Status 0 means 200.
type RecordedResponse struct {
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
}

// Words reads the parts of a case that are written as in the configuration.
type Words struct {
	Grants func(text []byte) (sdk.Capabilities, error)
	Limits func(text []byte) (sdk.Limits, error)
}

// errNoCases reports a plugin without a single case.
var errNoCases = errors.New("there are no cases")

// readCases reads every archive of a folder, in the order of their names, and returns all problems at once.
func readCases(dir string, kind sdk.Kind, words Words) ([]*Case, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, fmt.Errorf("list cases: %w", err)
	}
	var cases []*Case
	var problems []error
	for _, path := range paths {
		one, err := readCase(path, kind, words)
		if err != nil {
			problems = append(problems, fmt.Errorf("case %s: %w", path, err))
			continue
		}
		cases = append(cases, one)
	}
	return cases, errors.Join(problems...)
}

func readCase(path string, kind sdk.Kind, words Words) (*Case, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	archive := txtar.Parse(text)
	c := &Case{
		Name: strings.TrimSuffix(filepath.Base(path), ".txtar"), Comment: strings.TrimSpace(string(archive.Comment)),
		Op: usualOp(kind), Files: map[string][]byte{}, path: path, archive: archive,
		Want: Want{Files: map[string][]byte{}},
	}
	seen := map[string]bool{}
	for _, file := range archive.Files {
		if seen[file.Name] {
			return nil, fmt.Errorf("%s stands there twice", file.Name)
		}
		seen[file.Name] = true
		if err := c.take(file, words); err != nil {
			return nil, fmt.Errorf("-- %s --: %w", file.Name, err)
		}
	}
	return c, c.complete()
}

// take reads one part.
func (c *Case) take(file txtar.File, words Words) error {
	if path, ok := strings.CutPrefix(file.Name, "files/"); ok {
		return keepFile(c.Files, path, file.Data)
	}
	if path, ok := strings.CutPrefix(file.Name, "want-file/"); ok {
		return keepFile(c.Want.Files, path, file.Data)
	}
	switch file.Name {
	case "op":
		return c.takeOp(word(file.Data))
	case "input":
		return takeJSON(file.Data, &c.Input)
	case "grants":
		granted, err := words.Grants(file.Data)
		c.Grants = &granted
		return err
	case "limits":
		var err error
		c.Limits, err = words.Limits(file.Data)
		return err
	case "http":
		return takeJSON(file.Data, &c.HTTP)
	case "kv":
		return takeJSON(file.Data, &c.KV)
	case "secrets":
		return takeJSON(file.Data, &c.Secrets)
	}
	return c.Want.take(file)
}

func (w *Want) take(file txtar.File) error {
	switch file.Name {
	case "want":
		return takeJSON(file.Data, &w.Answer)
	case "want-exact":
		return takeJSON(file.Data, &w.Exact)
	case "want-error":
		w.Error = word(file.Data)
		return nil
	case "want-no-file":
		w.NoFiles = strings.Fields(string(file.Data))
		return nil
	case "want-kv":
		return takeJSON(file.Data, &w.KV)
	case "want-progress":
		return takeJSON(file.Data, &w.Progress)
	}
	return errors.New("no case has such a part; see docs/plugin-authors.md")
}

// complete reports what a case lacks, and fills what its input leaves out.
func (c *Case) complete() error {
	if c.Input == nil {
		return errors.New("-- input -- is missing")
	}
	if c.Want.Error != "" && (c.Want.Answer != nil || c.Want.Exact != nil) {
		return errors.New("it wants an answer and an error")
	}
	return c.fill()
}

func (w Want) empty() bool {
	return w.Vector == nil && w.Answer == nil && w.Exact == nil && w.Error == "" && len(w.Files) == 0 && len(w.NoFiles) == 0 &&
		w.KV == nil && w.Progress == nil
}

func keepFile(files map[string][]byte, path string, data []byte) error {
	if !fs.ValidPath(path) || path == "." {
		return errors.New("the path leaves the workspace, or is not clean")
	}
	files[path] = data
	return nil
}

// takeJSON reads exactly one JSON value without fields that nobody reads.
func takeJSON(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if decoder.More() {
		return errors.New("bytes after the JSON value")
	}
	return nil
}

func word(data []byte) string { return strings.TrimSpace(string(data)) }
