package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/fastreact/fastreact/host/internal/trust"
	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// refusedPlugin says which plugin is not loaded, and why.
type refusedPlugin struct {
	entry  int // in plugins.load; -1 for one that comes with the program
	path   string
	plugin string // name, where it is known
	err    error
}

func (r *refusedPlugin) Error() string { return fmt.Sprintf("%s: %v", r.where(), r.err) }

func (r *refusedPlugin) Unwrap() error { return r.err }

func (r *refusedPlugin) where() string {
	if r.entry < 0 {
		return "built-in plugin " + r.plugin
	}
	return fmt.Sprintf("plugins.load[%d] %s", r.entry, r.path)
}

// admission reads and checks the modules of one generation.
type admission struct {
	cfg      PluginsConfig
	before   *generation // whose unchanged plugins go on; nil for none
	names    map[string]bool
	admitted []*resident
	problems []error
}

// readPlugins reads and checks every module, built-in ones first, and returns all problems at once. Plugins of the
// generation before that are the same in every respect are taken over as they are.
func readPlugins(cfg PluginsConfig, builtins []Module, before *generation) ([]*resident, error) {
	a := &admission{cfg: cfg, before: before, names: map[string]bool{}}
	for _, b := range builtins {
		a.addBuiltin(b)
	}
	for i, entry := range cfg.Load {
		if err := a.addEntry(entry); err != nil {
			a.refuse(&refusedPlugin{entry: i, path: entry.Path, plugin: a.nameAt(entry.Path), err: err})
		}
	}
	return a.admitted, errors.Join(a.problems...)
}

func (a *admission) refuse(r *refusedPlugin) { a.problems = append(a.problems, r) }

// nameAt returns the name of the plugin that was loaded from a path before.
func (a *admission) nameAt(path string) string {
	if a.before == nil {
		return ""
	}
	for _, r := range a.before.residents {
		if r.path == path && path != "" {
			return r.Name()
		}
	}
	return ""
}

func (a *admission) addBuiltin(b Module) {
	if known := a.before.builtin(b.Name); known != nil {
		a.names[known.Name()] = true
		a.admitted = append(a.admitted, known)
		return
	}
	module := wasm.Module{Bytes: b.Bytes, Grants: b.Grants, Builtin: true, AllowUnpinned: true}
	if err := a.add(&resident{module: module, builtin: b.Name, profile: b.Profile}); err != nil {
		a.refuse(&refusedPlugin{entry: -1, plugin: b.Name, err: err})
	}
}

func (a *admission) addEntry(entry PluginConfig) error {
	module, signer, err := readModule(a.cfg, entry)
	if err != nil {
		return err
	}
	return a.add(&resident{module: module, shadow: entry.Shadow, path: entry.Path, signer: signer})
}

// add takes a module up when it can be loaded as far as that shows without running it.
func (a *admission) add(r *resident) error {
	inspection, err := wasm.Inspect(r.module.Bytes)
	switch {
	case err != nil:
		return err
	case a.names[inspection.Manifest.Name]:
		return fmt.Errorf("a plugin named %s is loaded already", inspection.Manifest.Name)
	case inspection.Manifest.Kind == sdk.KindGuard && r.shadow:
		return errors.New("it is a guard, and shadow is for policies: a guard that does not decide protects nothing; remove shadow")
	}
	if err := wasm.Check(a.cfg.hostConfig(nil), r.module); err != nil {
		return err
	}
	r.module.Name, r.inspection = inspection.Manifest.Name, inspection
	if err := r.seal(); err != nil {
		return err
	}
	a.names[r.Name()] = true
	a.admitted = append(a.admitted, a.before.takeOver(r))
	return nil
}

// readModule reads a module once, and refuses one that is not what somebody reviewed, or not by whom it claims to be.
func readModule(cfg PluginsConfig, entry PluginConfig) (module wasm.Module, signer string, err error) {
	code, err := wasm.ReadPlugin(entry.Path, entry.Manifest, cfg.Limits.ModuleBytes)
	if errors.Is(err, os.ErrNotExist) {
		return wasm.Module{}, "", errors.New("there is no such file; make it with `fastreact plugin build DIR`, or correct the path, which is relative to the working directory")
	}
	if err != nil {
		return wasm.Module{}, "", fmt.Errorf("read plugin: %w", err)
	}
	digest := trust.DigestOf(code)
	pin, err := cfg.pinOf(entry)
	if err != nil {
		return wasm.Module{}, "", err
	}
	if pin != "" && digest != pin {
		return wasm.Module{}, "", fmt.Errorf("%s digest is %s, not the pinned one (%s); review the file, then pin it anew", entry.whose(), digest, cfg.pinnedIn(entry))
	}
	if signer, err = cfg.Trust.signerOf(entry.Path, digest); err != nil {
		return wasm.Module{}, "", err
	}
	return wasm.Module{
		Bytes: code, SHA256: pin.Hex(), AllowUnpinned: entry.AllowUnpinned,
		Grants: entry.Grants.Capabilities(), Config: json.RawMessage(entry.Config), Limits: entry.Limits.Limits(), Mode: entry.mode(),
	}, signer, nil
}

// whose names what one digest is of, so that nobody compares it with the digest of one file of two.
func (p PluginConfig) whose() string {
	if p.Manifest == "" && filepath.Ext(p.Path) != ".json" {
		return "the file's"
	}
	return "the module, joined with its manifest files, is what is pinned: its"
}

// pinnedIn says where the pin of an entry stands.
func (c PluginsConfig) pinnedIn(entry PluginConfig) string {
	if entry.SHA256 != "" {
		return "sha256 of the entry"
	}
	return c.LockFile
}

// signerOf returns whose valid signature lies beside a module, empty for none that counts. A signature that is there
// and wrong refuses the module also where none is asked for.
func (t TrustConfig) signerOf(path string, digest trust.Digest) (string, error) {
	signature, err := trust.ReadSignature(path)
	if errors.Is(err, trust.ErrUnsigned) {
		if t.Required {
			return "", fmt.Errorf("it is not signed, and plugins.trust asks for it: there is no %s%s; sign it with `fastreact plugin sign`", path, trust.SignatureSuffix)
		}
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if len(t.Keys) == 0 {
		return "", signature.Check(digest) // nobody's key is known
	}
	id, err := signature.Verify(digest, t.listed())
	if errors.Is(err, trust.ErrUnknownSigner) {
		return "", fmt.Errorf("%w; add the signer's public key to plugins.trust.keys, or let somebody sign whose key is there", err)
	}
	if err != nil {
		return "", err
	}
	return t.nameOf(id) + " " + string(id), nil
}

// logLoaded says once what was loaded.
func (r *resident) logLoaded(log *slog.Logger) {
	log.Info("plugin loaded", slog.String("plugin", r.Name()), slog.String("kind", string(r.manifest().Kind)),
		slog.String("digest", r.Digest()), slog.Bool("shadow", r.shadow), slog.String("grants", r.grants()),
		slog.String("signer", r.signer))
}
