package host

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/host/internal/trust"
)

// LockRequest says which modules a lock file shall pin.
type LockRequest struct {
	Load  LoadOptions // the configuration whose plugins are locked; its Path may be empty
	Files []string    // lock these and leave the others as they are; empty means all of the configuration
	Path  string      // of the lock file; empty means the one that the service would read
	Check bool        // only compare: a module that cannot be pinned is a difference, no error
}

// LockChange is one line of a lock file that is, or would be, another.
type LockChange struct {
	Path   string `json:"path"`
	Change string `json:"change"` // added, changed, removed or unchanged; missing or refused where it cannot be pinned
	Before string `json:"previous_digest,omitempty"`
	Digest string `json:"digest,omitempty"`
	Why    string `json:"why,omitempty"` // it cannot be pinned
}

// LockPlan is what a lock file says and what it ought to say.
type LockPlan struct {
	Path    string       `json:"lock"`
	Changes []LockChange `json:"plugins"`
	next    trust.Lock
	refused map[string]error // by path in the lock file
}

// Drifts reports whether the lock file differs from what lies on the disk.
func (p LockPlan) Drifts() bool {
	return slices.ContainsFunc(p.Changes, func(c LockChange) bool { return c.Change != lockUnchanged })
}

// Write puts the plan into the lock file, at once and whole.
func (p LockPlan) Write() error { return p.next.Write(p.Path) }

const lockUnchanged = "unchanged"

// PlanLock reads the modules and compares them with the lock file. Nothing is written.
func PlanLock(request LockRequest) (LockPlan, error) {
	plugins, file, err := loadPlugins(request.Load)
	if err != nil {
		return LockPlan{}, err
	}
	plan := LockPlan{Path: lockPath(request.Path, plugins, file), next: trust.Lock{}, refused: map[string]error{}}
	before, err := trust.ReadLock(plan.Path)
	files := request.Files
	if err != nil && !errors.Is(err, os.ErrNotExist) && len(files) > 0 {
		return LockPlan{}, err // what shall stay cannot be read; a lock file of everything is written anew
	}
	if len(files) > 0 {
		maps.Copy(plan.next, before)
	} else {
		for _, entry := range plugins.Load {
			files = append(files, entry.Path)
		}
	}
	for _, path := range files {
		err := plan.pin(path, plugins)
		if err != nil && !request.Check {
			return LockPlan{}, err
		}
		if err != nil {
			delete(plan.next, trust.Key(path))
			plan.refused[trust.Key(path)] = err
		}
	}
	plan.compare(before)
	return plan, nil
}

func lockPath(asked string, plugins PluginsConfig, file string) string {
	switch {
	case asked != "":
		return asked
	case plugins.LockFile != "":
		return plugins.LockFile
	}
	return lockCandidates(file)[0]
}

// readListed reads a module as its entry would, with the manifest file that is named there.
func (c PluginsConfig) readListed(path string) ([]byte, error) {
	for _, entry := range c.Load {
		if entry.Manifest == "" || filepath.Clean(entry.Path) != filepath.Clean(path) {
			continue
		}
		module, err := ReadPlugin(entry)
		if err != nil {
			return nil, fmt.Errorf("read plugin: %w", err)
		}
		return inspected(path, module)
	}
	return readPlugin(path)
}

// pin takes one module up as it lies there now.
func (p *LockPlan) pin(path string, plugins PluginsConfig) error {
	module, err := plugins.readListed(path)
	if err != nil {
		return err
	}
	digest := trust.DigestOf(module)
	for _, entry := range plugins.Load {
		own, err := trust.ParseDigest(entry.SHA256)
		if entry.SHA256 != "" && filepath.Clean(entry.Path) == filepath.Clean(path) && (err != nil || own != digest) {
			return fmt.Errorf("%s: its entry pins %s and the file is %s; correct or remove sha256 there", path, entry.SHA256, digest)
		}
	}
	p.next[trust.Key(path)] = digest
	return nil
}

func (p *LockPlan) compare(before trust.Lock) {
	paths := maps.Clone(p.next)
	maps.Copy(paths, before)
	for path := range p.refused {
		paths[path] = ""
	}
	p.Changes = []LockChange{}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		was, now := before[path], p.next[path]
		change := LockChange{Path: path, Before: string(was), Digest: string(now), Change: "changed"}
		switch why := p.refused[path]; {
		case why != nil:
			change.Why = why.Error()
			switch {
			case errors.Is(why, os.ErrNotExist):
				change.Change = "missing"
			case was == "":
				change.Change = "refused"
			}
		case was == now:
			change.Change = lockUnchanged
		case was == "":
			change.Change = "added"
		case now == "":
			change.Change = "removed"
		}
		p.Changes = append(p.Changes, change)
	}
}

// loadPlugins reads the plugins section of a configuration whose pins need not be right: they are about to be written.
func loadPlugins(options LoadOptions) (PluginsConfig, string, error) {
	loaded, err := read(options)
	var refused *ConfigError
	if errors.As(err, &refused) {
		rest := slices.DeleteFunc(slices.Clone(refused.Problems), func(p Problem) bool {
			elsewhere := p.Path != "" && !strings.HasPrefix(p.Path, "plugins.")
			pin := strings.HasPrefix(p.Path, "plugins.load[") && strings.HasSuffix(p.Path, ".sha256")
			return elsewhere || pin || p.Path == "plugins.lock"
		})
		if len(rest) > 0 {
			return PluginsConfig{}, "", &ConfigError{Problems: rest}
		}
		err = nil
	}
	if err != nil {
		return PluginsConfig{}, "", err
	}
	return loaded.Config.Plugins, loaded.File, nil
}
