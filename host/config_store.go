package host

import (
	"strings"
	"time"
)

// StoreConfig says where runs are kept.
type StoreConfig struct {
	Driver    string          `key:"driver" default:"sqlite" enum:"sqlite" about:"Storage driver. This version has sqlite only."`
	Path      string          `key:"path" default:"data/fastreact.db" about:"Database file of the sqlite driver."`
	DSNEnv    string          `key:"dsn_env" default:"FASTREACT_POSTGRES_DSN" about:"Variable with the DSN of a postgres driver; sqlite does not read it."`
	DSNFile   string          `key:"dsn_file" default:"" about:"File with the DSN of a postgres driver; sqlite does not read it."`
	Retention RetentionConfig `key:"retention" about:"How long stored data is kept."`
}

// RetentionConfig says how long stored data is kept.
type RetentionConfig struct {
	Events time.Duration `key:"events" default:"720h" min:"1m" max:"876000h" about:"Age after which finished runs with their events may be removed."`
}

// WorkersConfig bounds how many runs are driven at once.
type WorkersConfig struct {
	Chat       int `key:"chat" default:"64" min:"1" max:"100000" about:"Chat runs driven at once; more get 503."`
	Background int `key:"background" default:"8" min:"1" max:"10000" about:"Background runs driven at once."`
	Queue      int `key:"queue" default:"256" min:"1" max:"1000000" about:"Background runs that may wait; more get 503."`
}

// WorkspaceConfig says where tools keep their files.
type WorkspaceConfig struct {
	Root       string `key:"root" default:"data/workspaces" about:"Folder that holds the workspaces."`
	QuotaBytes int64  `key:"quota_bytes" default:"268435456" min:"1" max:"1125899906842624" about:"What the files of one workspace may hold together; writes beyond it fail."`
	QuotaFiles int64  `key:"quota_files" default:"100000" min:"1" max:"1000000000" about:"How many files, folders and links one workspace may hold."`
}

// ToolsConfig bounds one tool call.
type ToolsConfig struct {
	MaxResultBytes int           `key:"max_result_bytes" default:"200000" min:"1" max:"268435456" about:"Result size up to which the model sees the whole text."`
	Timeout        time.Duration `key:"timeout" default:"60s" min:"1ms" max:"24h" about:"How long one tool call may take."`

	MaxProgressBytes int `key:"max_progress_bytes" default:"65536" min:"0" max:"16777216" about:"Text of one call's tool_progress events; 0 turns them off."`
}

func (c Config) validateStore(report reporter) {
	if c.Store.Path == "" {
		report("store.path", "is empty", "name a file, such as data/fastreact.db")
	}
	if strings.Contains(c.Store.Path, "://") {
		report("store.path", "is no file; other stores are "+notAvailable, "name a file, such as data/fastreact.db")
	}
	if c.Workspace.Root == "" {
		report("workspace.root", "is empty", "name a folder, such as data/workspaces")
	}
}
