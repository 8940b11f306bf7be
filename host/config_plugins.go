package host

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/fastreact/fastreact/host/internal/trust"
	"github.com/fastreact/fastreact/sdk"
)

// PluginsConfig lists the plugins to load beside the built-in ones.
type PluginsConfig struct {
	CacheDir     string             `key:"cache_dir" default:"data/wasm-cache" about:"Folder for compiled modules; private to the service's user."`
	Load         []PluginConfig     `key:"load" about:"Plugins to load."`
	Secrets      []SecretConfig     `key:"secrets" about:"Secrets that plugins may name and never see; a change needs a restart."`
	Egress       EgressConfig       `key:"egress" about:"Bounds of requests that plugins make."`
	Trust        TrustConfig        `key:"trust" about:"Whose signatures count."`
	Lock         string             `key:"lock" default:"" about:"Lock file that pins plugins by path; empty means plugins.lock beside the configuration file or in the working directory, where there is one."`
	Watch        bool               `key:"watch" default:"true" about:"Take plugins up again when one of their files, the lock file or this section changes."`
	Limits       PluginLimitsConfig `key:"limits" about:"Bounds of the plugin host, and ceilings that no plugin's own limits go above."`
	Idle         time.Duration      `key:"idle" default:"1m" min:"0s" max:"24h" about:"How long the compiled code of a tool that nobody calls stays in memory; then the next call reads it from cache_dir. 0 means for ever."`
	DrainTimeout time.Duration      `key:"drain_timeout" default:"30s" min:"0s" max:"10m" about:"How long calls under way may go on with plugins that a reload replaced; then they end."`

	LockFile string     // resolved: the lock file that was read, empty for none
	Pins     trust.Lock // resolved: what stands in it
}

// PluginConfig loads one plugin and grants what it may touch.
type PluginConfig struct {
	Path          string       `key:"path" default:"" about:"The .wasm file, or an Extism manifest file (.json) that names one."`
	Manifest      string       `key:"manifest" default:"" about:"Manifest file of a module that carries none, such as one built with an Extism PDK."`
	SHA256        string       `key:"sha256" default:"" about:"SHA-256 of the file, joined with its manifest file where it has one, 64 hexadecimal digits: the code that was reviewed."`
	AllowUnpinned bool         `key:"allow_unpinned" default:"false" about:"Load the file whatever it holds. For development only."`
	Grants        GrantsConfig `key:"grants" about:"What the plugin may touch; absent means nothing."`
	Config        Tree         `key:"config" about:"The plugin's own settings, a mapping of texts; modules of guest ABI v1 have none."`
	Shadow        bool         `key:"shadow" default:"false" about:"A policy plugin that is asked and recorded, but does not decide."`
	Limits        LimitsConfig `key:"limits" about:"Bounds of one call; the host's ceiling always applies."`
	Mode          string       `key:"mode" default:"auto" enum:"auto|snapshot|fresh" about:"How calls are kept apart: snapshot lends instances and restores them, fresh makes one for every call; auto is snapshot for policies, scopes and guards, fresh for tools."`
}

// GrantsConfig is what an operator grants a plugin.
type GrantsConfig struct {
	Files    []FileGrant    `key:"files" about:"Folders that the plugin sees."`
	HTTP     []HTTPGrant    `key:"http" about:"Origins that the plugin may send requests to."`
	Secrets  []SecretGrant  `key:"secrets" about:"Secrets that the plugin may name in its requests."`
	KV       KVConfig       `key:"kv" about:"Values that the plugin keeps from call to call, for each tenant apart."`
	Progress ProgressConfig `key:"progress" about:"What the plugin may report of a call under way."`
}

// ProgressConfig grants reports of progress.
type ProgressConfig struct {
	Bytes int `key:"bytes" default:"0" min:"0" max:"1048576" about:"Text that one call may report; 0 grants nothing."`
}

// FileGrant shows one folder to a plugin.
type FileGrant struct {
	Path string `key:"path" default:"" about:"Folder on this machine, or the word workspace for the run's own folder."`
	At   string `key:"at" default:"/" about:"Where the plugin sees it, an absolute path."`
	Mode string `key:"mode" default:"ro" enum:"ro|rw" about:"ro to read, rw to read and write."`
}

// Tree is a free JSON object: settings that the plugin itself understands.
type Tree json.RawMessage

// Capabilities returns the grants in the words of the plugin host.
func (g GrantsConfig) Capabilities() sdk.Capabilities {
	var granted sdk.Capabilities
	for _, file := range g.Files {
		granted.Files = append(granted.Files,
			sdk.FileAccess{Path: file.Path, At: file.At, Mode: sdk.FileMode(file.Mode)})
	}
	g.reach(&granted)
	if g.Progress.Bytes > 0 {
		granted.Progress = &sdk.ProgressAccess{Bytes: g.Progress.Bytes}
	}
	return granted
}

func (c Config) validatePlugins(report reporter) {
	if c.Plugins.CacheDir == "" {
		report("plugins.cache_dir", "is empty", "name a folder, such as data/wasm-cache")
	}
	for i, plugin := range c.Plugins.Load {
		at := element("plugins.load", i)
		plugin.validate(at, report)
		plugin.Grants.validateReach(at+".grants", c.Plugins.Secrets, report)
		c.Plugins.validatePin(plugin, at, report)
	}
	c.validateSecrets(report)
	c.validateTrust(report)
}

// validatePin reports an entry whose code nobody reviewed, or of which two reviews differ.
func (c PluginsConfig) validatePin(entry PluginConfig, path string, report reporter) {
	if _, err := trust.ParseDigest(entry.SHA256); entry.SHA256 != "" && err != nil {
		report(path+".sha256", "is not 64 hexadecimal digits", "copy the digest that `fastreact plugin inspect` shows")
		return
	}
	switch pin, err := c.pinOf(entry); {
	case err != nil:
		report(path+".sha256", err.Error(), "review the file, then pin it in one place")
	case pin == "" && !entry.AllowUnpinned:
		report(path+".sha256", "is missing", "write the digest that `fastreact plugin inspect` shows, pin the file with `fastreact plugin lock`, or set allow_unpinned: true while developing")
	}
}

func (p PluginConfig) validate(path string, report reporter) {
	if p.Path == "" {
		report(path+".path", "is missing", "name the .wasm file")
	}
	for i, file := range p.Grants.Files {
		at := element(path+".grants.files", i)
		if file.Path == "" {
			report(at+".path", "is missing", "name a folder, or write workspace")
		}
		if !strings.HasPrefix(file.At, "/") {
			report(at+".at", "is not an absolute path", "use a form like /data")
		}
	}
}
