package wasm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fastreact/fastreact/sdk"
)

// Module is one load entry: the bytes of a module and what the operator says about it.
type Module struct {
	Name          string // empty means the manifest's name
	Bytes         []byte
	SHA256        string // pin of the bytes, hex, with or without "sha256:"
	AllowUnpinned bool   // load without a pin
	Builtin       bool   // embedded in the binary, which pins it. It grants nothing.
	Grants        sdk.Capabilities
	Config        json.RawMessage // object of texts, for an Extism module; guest ABI v1 has no way to read one: empty, null or {}
	Limits        sdk.Limits      // zero fields mean the manifest's, else the host's default
	Mode          Mode            // empty means the default of the kind
}

// candidate is a module on its way to become a plugin.
type candidate struct {
	module   Module
	digest   string
	shape    *shape
	dialect  dialect
	manifest sdk.Manifest
	limits   sdk.Limits
	settings map[string]string // what config_get answers
	mode     Mode
	mounts   []mount
	progress int // bytes that one call may report
	reach    reach
}

// Check refuses what Load refuses without compiling or running the module: its pin, structure, manifest, imports,
// grants and limits. Every error is a *Failure.
func Check(cfg Config, module Module) error {
	c := &candidate{module: module}
	if err := c.check(cfg.complete()); err != nil {
		return asFailure(c.name(), err)
	}
	return nil
}

// Load checks a module, compiles it and starts it once. Nothing of it stays when a step fails. Every error is a
// *Failure.
func (h *Host) Load(ctx context.Context, module Module) (*Plugin, error) {
	c := &candidate{module: module}
	if err := c.check(h.config); err != nil {
		return nil, asFailure(c.name(), fmt.Errorf("load: %w", err))
	}
	policy, err := c.reach.policy(h.config.World, c.limits)
	if err != nil {
		return nil, asFailure(c.name(), fmt.Errorf("load: %w", err))
	}
	loading, leave, err := h.loads.enter(ctx)
	if err != nil {
		return nil, asFailure(c.name(), err)
	}
	defer leave()
	plugin := &Plugin{
		name: c.name(), digest: "sha256:" + c.digest, manifest: c.manifest, limits: c.limits, mode: c.mode, mounts: c.mounts,
		progress: c.progress, key: c.key(), host: h, log: h.log, settings: c.settings, calls: newCalls(), stop: make(chan struct{}),
		reach: c.reach, egress: policy,
	}
	if plugin.proven = h.dozes(c) && h.entryOf(c).proven(c.proof()); plugin.proven {
		if err := plugin.knock(); err != nil {
			return nil, asFailure(c.name(), err)
		}
		plugin.dozing = c
		plugin.open()
	} else if err := h.start(loading, plugin, c); err != nil {
		return nil, asFailure(c.name(), err)
	}
	if err := h.adopt(plugin); err != nil {
		return nil, asFailure(c.name(), errors.Join(err, plugin.Close(context.WithoutCancel(ctx))))
	}
	return plugin, nil
}

// start compiles a module, starts it once and opens its pool. Nothing of it stays when a step fails.
func (h *Host) start(ctx context.Context, plugin *Plugin, c *candidate) error {
	engine, err := h.engineOf(ctx, c)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	plugin.engine = engine
	if err := plugin.rehearse(ctx); err != nil {
		return errors.Join(err, h.engines.release(context.WithoutCancel(ctx), c.key()))
	}
	plugin.open()
	if h.dozes(c) {
		plugin.engine, plugin.dozing = nil, c
		h.engines.rest(plugin.key)
	}
	return nil
}

// engineOf returns the engine of a module, unless the mode asks more of the module than it can do. It needs a release.
func (h *Host) engineOf(ctx context.Context, c *candidate) (*engine, error) {
	engine, err := h.engines.acquire(ctx, c)
	if err != nil {
		return nil, err
	}
	if c.mode == ModeSnapshot && engine.unrestorable != "" {
		err = fmt.Errorf("%s cannot be undone by a snapshot; the operator may write mode: fresh", engine.unrestorable)
		return nil, errors.Join(err, h.engines.release(context.WithoutCancel(ctx), c.key()))
	}
	return engine, nil
}

func (c *candidate) name() string {
	if c.module.Name != "" || c.manifest.Name == "" {
		return c.module.Name
	}
	return c.manifest.Name
}

// check does everything that needs neither the compiler nor the guest.
func (c *candidate) check(cfg Config) error {
	if err := c.checkPin(cfg); err != nil {
		return err
	}
	if err := c.readManifest(); err != nil {
		return err
	}
	c.dialect = dialectOf(c.shape)
	var err error
	if c.reach, err = reachOf(c.manifest, c.module.Grants); err != nil {
		return err
	}
	if c.settings, err = c.readSettings(); err != nil {
		return err
	}
	if c.limits, err = resolve(cfg, c.module.Limits, c.manifest); err != nil {
		return err
	}
	if c.mode, err = modeOf(c.module.Mode, c.manifest.Kind); err != nil {
		return err
	}
	if c.mounts, err = intersect(c.manifest.Capabilities.Files, c.module.Grants.Files); err != nil {
		return err
	}
	if c.progress, err = progressOf(c.manifest.Capabilities.Progress, c.module.Grants.Progress); err != nil {
		return err
	}
	return errors.Join(c.dialect.checkExports(c.shape), c.shape.checkImports(c.manifest, c.mounts, c.progress, c.reach), c.shape.checkMemory(c.limits, cfg.MemoryBytes))
}

// readSettings reads what the operator says to the plugin, over what its Extism manifest says.
func (c *candidate) readSettings() (map[string]string, error) {
	var given map[string]json.RawMessage
	if config := bytes.TrimSpace(c.module.Config); len(config) > 0 {
		if err := json.Unmarshal(config, &given); err != nil {
			return nil, fmt.Errorf("config: %w", err)
		}
	}
	if _, abi1 := c.dialect.(native); abi1 && len(given) > 0 {
		return nil, errors.New("config: guest ABI v1 gives a plugin no way to read one; leave it out")
	}
	settings := map[string]string{}
	if c.shape.extism != nil {
		file, err := readExtismFile(c.shape.extism)
		if err != nil {
			return nil, err
		}
		maps.Copy(settings, file.settings())
	}
	for name, value := range given {
		var text string
		if err := json.Unmarshal(value, &text); err != nil || string(value) == "null" {
			return nil, fmt.Errorf("config.%s: an Extism plugin reads texts only; write it in quotes", name)
		}
		settings[name] = text
	}
	return settings, nil
}

func (c *candidate) checkPin(cfg Config) error {
	if size := len(c.module.Bytes); size > cfg.ModuleBytes {
		return fmt.Errorf("the module has %d bytes, the limit is %d", size, cfg.ModuleBytes)
	}
	sum := sha256.Sum256(c.module.Bytes)
	c.digest = hex.EncodeToString(sum[:])
	pin := strings.TrimPrefix(strings.ToLower(c.module.SHA256), "sha256:")
	if pin == "" && !c.module.AllowUnpinned && !c.module.Builtin {
		return fmt.Errorf("the module is not pinned; the operator adds sha256: %s to its entry in plugins.load (allow_unpinned: true while developing)", c.digest)
	}
	if pin != "" && pin != c.digest {
		return fmt.Errorf("the module's digest is sha256:%s, its entry pins sha256:%.64s", c.digest, pin)
	}
	return nil
}

func (c *candidate) readManifest() error {
	var err error
	if c.shape, err = parseShape(c.module.Bytes); err != nil {
		return err
	}
	if c.manifest, err = c.shape.decodeManifest(); err != nil {
		return err
	}
	return nil
}

func (s *shape) decodeManifest() (sdk.Manifest, error) {
	if s.manifest == nil {
		return sdk.Manifest{}, fmt.Errorf("the module has no section %s; build it with fastreact plugin build, or name a manifest file beside it", sdk.ManifestSection)
	}
	manifest, err := sdk.DecodeManifest(s.manifest)
	if err != nil {
		return sdk.Manifest{}, err
	}
	if s.extism != nil {
		file, err := readExtismFile(s.extism)
		if err != nil {
			return sdk.Manifest{}, err
		}
		manifest = file.request(manifest)
		if err := manifest.Validate(); err != nil {
			return sdk.Manifest{}, fmt.Errorf("manifest with what the extism manifest asks for: %w", err)
		}
	}
	if manifest.Match == nil {
		return manifest, nil
	}
	for n, glob := range manifest.Match.Tools {
		if !doublestar.ValidatePattern(glob) {
			return sdk.Manifest{}, fmt.Errorf("manifest match.tools[%d]: %q is not a glob", n, glob)
		}
	}
	return manifest, nil
}

func modeOf(asked Mode, kind sdk.Kind) (Mode, error) {
	switch {
	case asked == ModeFresh, asked == "" && !kind.Pure():
		return ModeFresh, nil
	case (asked == ModeSnapshot || asked == "") && kind.Pure():
		return ModeSnapshot, nil
	case asked == ModeSnapshot:
		return "", errors.New("a tool touches the world, which no snapshot restores: its mode is fresh")
	}
	return "", fmt.Errorf("mode %q is neither %s nor %s", asked, ModeSnapshot, ModeFresh)
}

// key names the compiled code: the module, and what was written into it. The mode only refuses modules, it writes
// nothing.
func (c *candidate) key() string {
	return fmt.Sprintf("%s-%d-%d", c.digest, c.limits.TableEntries, c.limits.CallDepth)
}
