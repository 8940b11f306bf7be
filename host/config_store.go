package host

import (
	"cmp"
	"strings"
	"time"
	"unicode"

	"github.com/fastreact/fastreact/host/internal/ledger/postgres"
)

// StoreConfig says where runs are kept.
type StoreConfig struct {
	Driver  string `key:"driver" default:"sqlite" enum:"sqlite|postgres" about:"sqlite: one file, for one process; postgres: one database, for several."`
	Path    string `key:"path" default:"data/fastreact.db" about:"Database file of the sqlite driver."`
	DSNEnv  string `key:"dsn_env" default:"FASTREACT_POSTGRES_DSN" about:"Variable with the DSN of the postgres driver; sqlite does not read it."`
	DSNFile string `key:"dsn_file" default:"" about:"File with the DSN of the postgres driver; sqlite does not read it."`

	MaxConnections int           `key:"max_connections" default:"16" min:"3" max:"1000" about:"Connections of this process to PostgreSQL. More than 16 are rarely faster."`
	ConnectTimeout time.Duration `key:"connect_timeout" default:"10s" min:"100ms" max:"1h" about:"How long a starting service waits for PostgreSQL."`
	AutoMigrate    bool          `key:"auto_migrate" default:"true" about:"Whether a starting service brings an older schema of the store up to date; else it does not start."`

	Retention RetentionConfig `key:"retention" about:"How long stored data is kept."`

	DSN Secret // of the postgres driver, resolved from the keys above or given by --store
}

// The store's drivers.
const (
	storeSQLite   = "sqlite"
	storePostgres = "postgres"
)

// RetentionConfig says how long stored data is kept.
type RetentionConfig struct {
	Events time.Duration `key:"events" default:"720h" min:"1m" max:"876000h" about:"After the end of a run, its events are removed but for the last; asking for them is 410 events_compacted."`
	Runs   time.Duration `key:"runs" default:"8760h" min:"1m" max:"876000h" about:"After its end, a run is removed with all that belongs to it."`

	RunsPerTenant int `key:"runs_per_tenant" default:"0" min:"0" max:"1000000000" about:"Finished runs of one tenant that are kept, the newest; 0 keeps all."`
}

// WorkersConfig bounds how many runs are driven at once.
type WorkersConfig struct {
	Chat       int `key:"chat" default:"64" min:"1" max:"100000" about:"Chat runs driven at once; more get 503."`
	Background int `key:"background" default:"8" min:"1" max:"10000" about:"Background runs driven at once."`
	Queue      int `key:"queue" default:"256" min:"1" max:"1000000" about:"Background runs that may wait; more get 503."`

	Lease      time.Duration `key:"lease" default:"10s" min:"1s" max:"10m" about:"How long a process that fell silent keeps its runs; then another takes them over."`
	Node       string        `key:"node" default:"" about:"Name of this process, for people; empty = the name of the machine."`
	CrashLimit int           `key:"crash_limit" default:"5" min:"1" max:"1000" about:"Times in a row that a run may be left behind without getting any further; then it fails with crash_loop."`
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

	Idempotent []string `key:"idempotent" about:"Registered names, or patterns of them such as docs_*, of tools that may be run twice without harm; after a crash they are repeated with the same key instead of asking a person."`
}

func (c Config) validateStore(report reporter) {
	switch {
	case c.Store.Driver == storePostgres:
		c.validateDSN(report)
	case c.Store.Path == "":
		report("store.path", "is empty", "name a file, such as data/fastreact.db")
	case strings.Contains(c.Store.Path, "://"):
		report("store.path", "is no file", "for PostgreSQL give the DSN by dsn_env or dsn_file, with driver: postgres, or as --store postgres://…")
	}
	if kept := c.Store.Retention; kept.Runs < kept.Events {
		report("store.retention.runs", "is shorter than store.retention.events ("+kept.Events.String()+")",
			"a run goes with its events; say at least as long, or keep events shorter")
	}
	if c.Workspace.Root == "" {
		report("workspace.root", "is empty", "name a folder, such as data/workspaces")
	}
}

func (c Config) validateDSN(report reporter) {
	const known = "such as postgres://user:password@host:5432/fastreact"
	if c.Store.DSN == "" {
		variable := cmp.Or(c.Store.DSNEnv, "that dsn_env names")
		report("store.dsn_env", "driver postgres has no DSN", "set the variable "+variable+", or name a file with dsn_file")
		return
	}
	if err := postgres.Check(c.Store.DSN.Reveal()); err != nil {
		key := "store.dsn_env"
		if c.Store.DSNFile != "" {
			key = "store.dsn_file"
		}
		report(key, err.Error(), "write it "+known)
	}
}

// resolveStore reads the DSN that the configuration names, unless a flag gave one.
func (d *decoder) resolveStore(store *StoreConfig, getenv func(string) string) {
	switch {
	case store.Driver != storePostgres || store.DSN != "":
	case store.DSNFile != "" && d.origins["store.dsn_env"] != "":
		d.report("store.dsn_file", "the DSN has two sources", "keep one of dsn_env and dsn_file")
	case store.DSNFile != "":
		text, err := readBounded(store.DSNFile)
		if err != nil {
			d.report("store.dsn_file", "cannot be read: "+err.Error(), relativeHint)
		}
		store.DSN = Secret(strings.TrimRight(string(text), "\r\n"))
	case store.DSNEnv != "":
		store.DSN = Secret(getenv(store.DSNEnv))
	}
}

// IsPostgres reports whether a text names a PostgreSQL database and no file.
func IsPostgres(store string) bool {
	return strings.HasPrefix(store, "postgres://") || strings.HasPrefix(store, "postgresql://")
}

// nameStore puts what --store says in place of what the file says.
func (d *decoder) nameStore(c *StoreConfig, store string) {
	if store == "" {
		return
	}
	const flag = "--store"
	d.origins["store.driver"] = FromFlag
	if IsPostgres(store) {
		c.Driver, c.DSN, d.places["store.dsn_env"] = storePostgres, Secret(store), place{source: flag}
		return
	}
	c.Driver, c.Path, d.origins["store.path"], d.places["store.path"] = storeSQLite, store, FromFlag, place{source: flag}
}

// validateNode refuses names that could be taken for an incarnation, or that no log line holds.
func (c Config) validateNode(report reporter) {
	bad := func(r rune) bool { return r == '/' || unicode.IsControl(r) || unicode.IsSpace(r) }
	if name := c.Workers.Node; len(name) > 128 || strings.ContainsFunc(name, bad) {
		report("workers.node", "is no name", "write up to 128 bytes without slashes and spaces, such as node-1")
	}
}
