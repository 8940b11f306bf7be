package host

import (
	"context"
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/sdk"
)

// generation is the set of plugins that serves at one time. It never changes; a reload makes another.
type generation struct {
	number    int // from 1
	since     time.Time
	residents []*resident // built-in ones first, then in the order of the configuration
}

// kindOf returns the plugins of one kind, in order.
func (g *generation) kindOf(kind sdk.Kind) []*resident {
	var some []*resident
	for _, r := range g.residents {
		if r.manifest().Kind == kind {
			some = append(some, r)
		}
	}
	return some
}

// builtin returns a plugin that came with the program and works. There are none in a nil generation.
func (g *generation) builtin(name string) *resident {
	if g == nil {
		return nil
	}
	for _, r := range g.residents {
		if r.builtin == name && !r.failed() {
			return r
		}
	}
	return nil
}

// takeOver returns the plugin of this generation that is the same as r, or r. What was counted of a plugin of this
// name goes on in either case.
func (g *generation) takeOver(r *resident) *resident {
	if g != nil {
		for _, known := range g.residents {
			if known.sealed == r.sealed && !known.failed() {
				return known
			}
			if known.Name() == r.Name() {
				r.tally = known.tally
			}
		}
	}
	if r.tally == nil {
		r.tally = &tally{}
	}
	return r
}

// named returns the plugin of a name, or nil.
func (g *generation) named(name string) *resident {
	for _, r := range g.residents {
		if r.Name() == name {
			return r
		}
	}
	return nil
}

// sameAs reports whether two generations hold the same plugins in the same order.
func (g *generation) sameAs(other *generation) bool {
	if len(g.residents) != len(other.residents) {
		return false
	}
	for i, r := range g.residents {
		if r != other.residents[i] {
			return false
		}
	}
	return true
}

// load compiles, starts and tries every plugin that does not run yet, one by one: two at a time would only fight for
// the same cores. The first that fails ends it.
func (g *generation) load(ctx context.Context, s *Server) error {
	for _, r := range g.residents {
		r.compile(ctx, s.plugins, s.options.Log)
		if r.err != nil {
			return &refusedPlugin{entry: g.entryOf(r), path: r.path, plugin: r.Name(), err: r.err}
		}
	}
	return nil
}

// entryOf returns the place of a plugin in plugins.load.
func (g *generation) entryOf(r *resident) int {
	entry := -1
	for _, each := range g.residents {
		if each.builtin == "" {
			entry++
		}
		if each == r && each.builtin == "" {
			return entry
		}
	}
	return -1
}

// regime is what the gate decides with while a generation serves under these rules.
func (s *Server) regime(g *generation, rules *policy.Rules) (gate.Regime, error) {
	sources, err := s.sources(g)
	if err != nil {
		return gate.Regime{}, err
	}
	regime := gate.Regime{Sources: sources, Rules: rules}
	for _, r := range g.kindOf(sdk.KindPolicy) {
		if r.builtin != "" && r.Name() == execGuard {
			regime.ExecGuard = r
			continue
		}
		regime.Judges = append(regime.Judges, r)
	}
	var scopers []gate.Scoper
	for _, r := range g.kindOf(sdk.KindScope) {
		scopers = append(scopers, r)
	}
	regime.Scoper = gate.Scopers(scopers...)
	return regime, nil
}

// newTools refuses a generation that offers a tool under a name that a native plugin's tool has: callers of the one
// would reach the other.
func (s *Server) newTools(ctx context.Context, before, next *generation) error {
	known := map[string]bool{}
	for _, r := range before.kindOf(sdk.KindTool) {
		for _, tool := range r.manifest().Tools {
			known[tool.Name] = true
		}
	}
	for _, r := range next.kindOf(sdk.KindTool) {
		for _, tool := range r.manifest().Tools {
			if known[tool.Name] {
				continue
			}
			if owner := s.nativeOwner(ctx, tool.Name); owner != "" {
				err := fmt.Errorf("tool %s is offered by %s already; rename one of them", tool.Name, owner)
				return &refusedPlugin{entry: next.entryOf(r), path: r.path, plugin: r.Name(), err: err}
			}
		}
	}
	return nil
}

func (s *Server) nativeOwner(ctx context.Context, tool string) string {
	for _, native := range s.options.Natives {
		for _, offered := range native.Tools(ctx) {
			if offered.Name == tool {
				return native.Name()
			}
		}
	}
	return ""
}
