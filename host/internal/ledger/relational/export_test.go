package relational

import "github.com/fastreact/fastreact/host/internal/run"

// The statements whose plans are looked at.
const (
	NextRun           = nextRun
	SelectRuns        = selectRuns
	Adrift            = adrift
	CountWaiting      = countWaiting
	Companions        = companions
	ListRuns          = listRuns
	SelectApprovals   = selectApprovals
	Deadlines         = deadlines
	ReadResearch      = readResearch
	ReadResearchKeyed = readResearchKeyed
	InsertResearch    = insertResearch
	PruneNotes        = oldNotes
	PruneAnswers      = oldAnswers
	PruneOldRuns      = oldRuns
	PruneTenant       = tenantsOldest
	CrowdedTenants    = crowdedTenants
	CompactRuns       = compactRuns
	SelectAudits      = selectAudits
	RememberedRuns    = rememberedRuns
	RunsAhead         = runsAhead
	SomeoneWaits      = someoneWaits
	MakeReady         = makeReady
	SettleOfRun       = settleOfRun
)

// Renewal is the statement that prolongs n leases.
func Renewal(n int) string { return renewal(n) }

// Conditions is the WHERE clause of a list.
type Conditions struct {
	Text string
	Args []any
}

// RunConditions selects runs.
func RunConditions(filter run.Filter) Conditions {
	where := runConditions(filter)
	return Conditions{where.text(), where.args}
}

// ApprovalConditions selects approvals.
func ApprovalConditions(filter run.ApprovalFilter) Conditions {
	where := approvalConditions(filter)
	return Conditions{where.text(), where.args}
}

// Watched counts the runs that somebody watches.
func (n *Notices) Watched() int { return len(n.watchers) }

// Watch watches a run.
func (n *Notices) Watch(ref run.Ref) (notice <-chan struct{}, stop func()) { return n.watch(ref) }
