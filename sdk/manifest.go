package sdk

import (
	"encoding/json"
	"fmt"
	"time"
)

// Kind says what a plugin is for, and with it which operations it must answer and what it may touch.
type Kind string

// The four plugin kinds. All but KindTool are pure: they see no clock, no randomness, no files and no network.
const (
	KindTool   Kind = "tool"
	KindPolicy Kind = "policy"
	KindScope  Kind = "scope"
	KindGuard  Kind = "guard"
)

// Valid reports whether k is one of the four kinds.
func (k Kind) Valid() bool {
	switch k {
	case KindTool, KindPolicy, KindScope, KindGuard:
		return true
	}
	return false
}

// Pure reports whether plugins of this kind see nothing of the world.
func (k Kind) Pure() bool { return k != KindTool }

// Manifest describes a module. It stands as JSON in the custom section ManifestSection and is readable without
// running the module. What it requests is a request; the operator's config grants.
type Manifest struct {
	ABI          int          `json:"abi"`
	Name         string       `json:"name"`
	Version      string       `json:"version"`
	Kind         Kind         `json:"kind"`
	Description  string       `json:"description,omitempty"`
	Tools        []ToolSpec   `json:"tools,omitempty"`
	Match        *Match       `json:"match,omitempty"` // policy: which calls it wants; absent = every call
	Capabilities Capabilities `json:"capabilities,omitzero"`
	Limits       Limits       `json:"limits,omitzero"`
	Vectors      []Vector     `json:"vectors,omitempty"` // what it must answer before a host relies on it
}

// ToolSpec describes one tool to the model.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`     // JSON Schema of the arguments, an object schema
	Scope       bool            `json:"scope,omitempty"`  // the run's scope is injected into its arguments
	Extism      *ExtismTool     `json:"extism,omitempty"` // how a module of the Extism dialect answers the tool
}

// ExtismTool says which function of a module that was built with an Extism PDK answers a tool. Without it that is
// the export "call", which is given the whole Call, or else the export with the tool's name, which is given the
// arguments.
type ExtismTool struct {
	Function string `json:"function"`        // export that is called
	Input    string `json:"input,omitempty"` // argument whose text becomes the input; absent: all arguments, as JSON
}

// Match selects calls by doublestar globs on the registered and the raw tool name.
type Match struct {
	Tools []string `json:"tools"`
}

// Capabilities lists what a module requests, or what a config grants it. Absent means none.
type Capabilities struct {
	Files    []FileAccess    `json:"files,omitempty"`
	HTTP     []HTTPAccess    `json:"http,omitempty"`     // the import fastreact:http/1
	Secrets  []SecretAccess  `json:"secrets,omitempty"`  // secret://<name> in its requests
	KV       *KVAccess       `json:"kv,omitempty"`       // the import fastreact:kv/1
	Progress *ProgressAccess `json:"progress,omitempty"` // the import fastreact:emit/1
}

// ProgressAccess lets a tool report progress of a call that is under way.
type ProgressAccess struct {
	Bytes int `json:"bytes"` // text that one call may report; the rest is dropped
}

// MaxProgressBytes is the most that one call may be granted to report.
const MaxProgressBytes = 1 << 20

// Validate reports an amount that is not above 0, or above MaxProgressBytes.
func (a ProgressAccess) Validate() error {
	if a.Bytes < 1 || a.Bytes > MaxProgressBytes {
		return fmt.Errorf("bytes: %d does not lie between 1 and %d", a.Bytes, MaxProgressBytes)
	}
	return nil
}

// FileAccess is a directory a guest sees. Path is the host's folder and stands in grants only; the word
// "workspace" there means the run's own workspace.
type FileAccess struct {
	Path string   `json:"path,omitempty"`
	At   string   `json:"at"` // where the guest sees it, such as "/"
	Mode FileMode `json:"mode"`
}

// FileMode says whether a guest may write.
type FileMode string

// The two file modes.
const (
	ReadOnly  FileMode = "ro"
	ReadWrite FileMode = "rw"
)

// Limits bounds one call of a module. Zero means the host's default; the host's ceiling always applies.
type Limits struct {
	Wall          Duration `json:"wall,omitempty"`           // wall time of one call
	Gas           int64    `json:"gas,omitempty"`            // work of one call, about one an instruction; deterministic
	MemoryPages   uint32   `json:"memory_pages,omitempty"`   // linear memory in 64 KiB pages
	TableEntries  uint32   `json:"table_entries,omitempty"`  // entries of all tables together
	CallDepth     uint32   `json:"call_depth,omitempty"`     // calls nested in each other
	HostCalls     int      `json:"host_calls,omitempty"`     // imported functions called in one call
	HTTPRequests  int      `json:"http_requests,omitempty"`  // requests of one call, redirects not counted
	HTTPBytes     int      `json:"http_bytes,omitempty"`     // bytes sent and received by one call
	HTTPRedirects int      `json:"http_redirects,omitempty"` // redirects followed for one request
	OutputBytes   int      `json:"output_bytes,omitempty"`   // size of one answer
	LogBytes      int      `json:"log_bytes,omitempty"`      // log output of one call
	Leases        int      `json:"leases,omitempty"`         // calls at once
}

// Duration is a time.Duration that reads and writes as Go duration text, such as "2s".
type Duration time.Duration

// MarshalText writes d as Go duration text.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads Go duration text.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("duration %q: use a form like 2s or 500ms", text)
	}
	*d = Duration(parsed)
	return nil
}
