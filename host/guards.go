package host

import (
	"context"
	"errors"
	"slices"

	"github.com/fastreact/fastreact/host/internal/release"
	"github.com/fastreact/fastreact/sdk"
)

// builtinGuards are asked about every answer of a guarded profile, before any other guard. A service without one of
// them releases nothing.
func builtinGuards() []string { return []string{"evidence-guard", "semantic-guard"} }

// guards lends the guards that are in force: the built-in ones, then those of plugins.load in their order. A reload
// does not end them before they are given back.
func (s *Server) guards() (guards []release.Guard, giveBack func()) {
	s.lending.Lock()
	defer s.lending.Unlock()
	lent := s.serving.Load().kindOf(sdk.KindGuard)
	for _, name := range builtinGuards() {
		at := slices.IndexFunc(lent, func(r *resident) bool { return r.builtin == name })
		if at < 0 {
			guards = append(guards, absent{})
			continue
		}
		guards = append(guards, lent[at])
	}
	for _, r := range lent {
		r.users.Add(1)
		if !slices.Contains(builtinGuards(), r.builtin) {
			guards = append(guards, r)
		}
	}
	return guards, func() { s.letGo(lent) }
}

// serve puts a generation in the place of the one before, which still has all its plugins.
func (s *Server) serve(next *generation) {
	s.lending.Lock()
	defer s.lending.Unlock()
	s.serving.Store(next)
}

// errAbsent is why a service without a built-in guard releases nothing.
var errAbsent = errors.New("a built-in guard is not there")

// absent stands where a guard is missing.
type absent struct{}

// Review fails.
func (absent) Review(context.Context, sdk.ReviewRequest) (sdk.Review, error) {
	return sdk.Review{}, errAbsent
}
