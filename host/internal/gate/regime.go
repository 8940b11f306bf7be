package gate

import "github.com/fastreact/fastreact/host/internal/policy"

// Regime is what a gate decides with and whom it lets run tools. A gate has one at a time.
type Regime struct {
	Sources   []Source // where two have a tool of the same name, the earlier one's counts
	Rules     *policy.Rules
	ExecGuard Judge   // without it every exec is denied
	Judges    []Judge // asked in this order
	Scoper    Scoper  // without it every call that needs a scope is denied
}

// ruling is a regime in force and the policy that it makes.
type ruling struct {
	Regime
	snapshot PolicySnapshot
	tenure   *tenure
}

func newRuling(regime Regime, during *tenure) *ruling {
	return &ruling{regime, snapshotOf(regime), during}
}

// tenure is the time of one set of plugins and sources, through all rules that they serve under.
type tenure struct {
	users int           // calls under way; guarded by Gate.mu
	over  bool          // others are in force; guarded by Gate.mu
	idle  chan struct{} // closed when it is over and nobody is left
}

func newTenure() *tenure { return &tenure{idle: make(chan struct{})} }

// Policy returns the policy in force. The caller must not change it.
func (g *Gate) Policy() PolicySnapshot {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inForce.snapshot
}

// Enforce puts other rules in force, at once and whole, and returns the policy that they make. A call that was judged
// before and has not left yet is judged again.
func (g *Gate) Enforce(rules *policy.Rules) PolicySnapshot {
	g.mu.Lock()
	defer g.mu.Unlock()
	regime := g.inForce.Regime
	regime.Rules = rules
	g.inForce = newRuling(regime, g.inForce.tenure)
	return g.inForce.snapshot
}

// Replace puts another regime in force, at once and whole, and returns the policy that it makes. A call that is being
// judged or carried out ends under the regime it began with; one that was judged before and has not left yet, or waits
// for a person, is judged again. left is closed when nothing uses the old regime's plugins and sources any more, unless
// the new one has them too.
func (g *Gate) Replace(regime Regime) (snapshot PolicySnapshot, left <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	old := g.inForce.tenure
	old.over = true
	old.closeIfLeft()
	g.inForce = newRuling(regime, newTenure())
	return g.inForce.snapshot, old.idle
}

// enter returns the ruling in force. Its plugins stay usable until leave, which must follow once.
func (g *Gate) enter() *ruling {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inForce.tenure.users++
	return g.inForce
}

func (g *Gate) leave(r *ruling) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r.tenure.users--
	r.tenure.closeIfLeft()
}

// closeIfLeft is called with Gate.mu held. Nobody enters a tenure that is over, so it closes once.
func (t *tenure) closeIfLeft() {
	if t.over && t.users == 0 {
		close(t.idle)
	}
}
