// Package ledger is the one truth about runs: their events, approvals and decisions. It promises that whatever a
// reader saw is stored, that sequences have no gaps, and that only the present owner of a run can write to it.
//
// Drivers live beside it and pass the suite in ledgertest. What an event means is left to the agent; what it looks
// like on a wire is left to the faces.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Errors of every driver. ErrUnknown and ErrExists arrive wrapped in a *run.Error with a public sentence.
var (
	ErrUnknown = errors.New("no such record")
	ErrExists  = errors.New("record already exists")
	ErrFenced  = errors.New("run is owned by another claim") // the writer must stop at once
	ErrEmpty   = errors.New("nothing to claim")
	ErrFull    = errors.New("queue is full")
	ErrBusy    = errors.New("session has an unfinished run")
	ErrKeyed   = errors.New("idempotency key was used for something else")
	ErrClosed  = errors.New("ledger is closed")
)

// Ledger is a driver. Every method may be called from many goroutines.
type Ledger interface {
	Runs
	Queue
	Cluster
	Log
	Sessions
	Approvals
	Outbox
	Pairs
	Readers
	Research
	Notes
	Books
}

// Runs creates and reads runs.
type Runs interface {
	// Create stores a new run, queued, or running with an owner, and returns it as it is stored: its times are the
	// ledger's. ErrExists when its Ref is taken, or the idempotency key of its request by the same tenant and user;
	// ErrFull and ErrBusy when the door is not open, judged in the same transaction.
	Create(ctx context.Context, r run.Run, door Door) (run.Run, error)
	// Run returns one run, or ErrUnknown.
	Run(ctx context.Context, ref run.Ref) (run.Run, error)
	// Keyed returns the run that a tenant's user asked for under an idempotency key, or ErrUnknown.
	Keyed(ctx context.Context, tenant run.TenantKey, userKey, key string) (run.Run, error)
	// Runs lists runs, newest first. Messages, Skills and ToolPolicy of their requests are left out: each may be as long
	// as a request, and lists are for looking.
	Runs(ctx context.Context, filter run.Filter) (run.Page[run.Run], error)
}

// Door is what must hold for a run to be stored, and for how long its first owner has it.
type Door struct {
	Waiting int           // fewer background runs than this wait in the queue; 0 = however many
	Alone   bool          // its session has no unfinished run
	Lease   time.Duration // of a run that is stored with an owner

	// Interrupts is the reason for which the earlier runs of its session that are not finished are cancelled with its
	// creation, those that were not before. Empty: they are not.
	Interrupts string
}

// Queue hands runs to those who drive them.
type Queue interface {
	// Claim takes the oldest run of a kind that nobody drives and that may go on: queued, parked and ready, or left
	// behind by an owner whose lease is over. One whose time has not come (NotBefore) is passed over, and so is one that
	// waits for its turn and has no event yet, while an earlier one of its conversation is not finished. Claim sets
	// Status running, Phase active, the owner, the lease, Epoch+1 and Attempts+1, and counts in Barren how many claims
	// in a row ended without a new event. ErrEmpty when there is none. A cancelled run is never claimed.
	Claim(ctx context.Context, by Claimant) (run.Run, error)
	// Cancel records the wish to cancel, once; the first reason stays, and an empty one is recorded as "cancelled".
	// When nobody drives the run, in the same transaction it ends with wish.Close, if that was made for the run as it
	// is. A terminal run is returned unchanged. ErrKeyed when the key was used for something else.
	Cancel(ctx context.Context, ref run.Ref, wish Cancellation) (run.Run, error)
	// Adrift lists cancelled runs that nobody drives and that have not ended, oldest first, at most limit.
	Adrift(ctx context.Context, limit int) ([]run.Run, error)
	// Wake returns a channel that holds a value whenever something may have become claimable or cancelled since it
	// was last read, in any process. There is one reader. A notice may be lost: look from time to time.
	Wake() <-chan struct{}
}

// Claimant is who takes runs.
type Claimant struct {
	Owner string        // an incarnation: a name that no other process ever had or will have
	Kind  run.Kind      // of the runs to claim
	Lease time.Duration // how long a run is its own without a renewal
}

// Cancellation is the wish to cancel a run.
type Cancellation struct {
	Reason      string
	Idempotency run.Idempotency // of the request that asked; zero: none. Kept with the change, for the run's tenant
	Close       *Closing        // nil: only the wish is recorded
}

// Closing ends a run that nobody drives.
type Closing struct {
	NextSeq int64 // of the run for which the batch was made: with another it is not used
	Batch   Batch // its Finish must be there
}

// Cluster is the processes that share a ledger. A driver for one process plays along.
type Cluster interface {
	// Renew records that a node is alive and prolongs, in one statement, its leases on the runs it drives. It returns
	// those that are still its own; every other belongs to a later claim, or is over, and its drive must stop.
	Renew(ctx context.Context, node Node, driven []run.Fence) ([]Held, error)
	// Nodes lists the nodes that renewed within their lease, by name and then by age.
	Nodes(ctx context.Context) ([]Node, error)
	// Depart forgets a node that stops, and gives up the duties it has.
	Depart(ctx context.Context, owner string) error
	// Take gives a duty to one node at a time: it reports whether the duty is the claimant's until its lease ends. Who
	// has it prolongs it by taking it again.
	Take(ctx context.Context, duty string, by Claimant) (mine bool, err error)
	// Now returns the ledger's time, by which leases and expiries are judged.
	Now(ctx context.Context) (time.Time, error)
}

// Node is one process.
type Node struct {
	Name  string // for people; several may have the same
	Owner string // its incarnation
	Since time.Time
	Seen  time.Time     // when it renewed last; given by the ledger
	Lease time.Duration // how long it counts as alive after that
	Runs  int           // that it drives
}

// Held is a run whose lease was renewed.
type Held struct {
	Ref    run.Ref
	Cancel string // reason of a recorded cancel; empty when none
}

// Log is the events of runs.
type Log interface {
	// Append commits one batch under the fence, whole or not at all, and returns its events with Sequence and Time.
	// ErrFenced when the fence's claim is over. Watchers are told after the commit, never before.
	Append(ctx context.Context, fence run.Fence, batch Batch) ([]run.Event, error)
	// Events returns events with Sequence greater than after, ascending, at most limit. after -1 is the start.
	// A run that is unknown has none. Where the next event was compacted away the error is a *run.Error with
	// CodeCompacted around a *CompactedError.
	Events(ctx context.Context, ref run.Ref, after int64, limit int) ([]run.Event, error)
	// Watch returns a channel that holds a value whenever the run may have changed since it was last read: new
	// events, a new status or phase. stop releases it. A notice is a hint: read the log for the truth.
	Watch(ref run.Ref) (notice <-chan struct{}, stop func())
}

// Sessions reads what the runs of one conversation have to do with one another.
type Sessions interface {
	// Turns returns what the completed runs of a conversation said, in the order of their completion. Of a long one
	// it returns the newest, within the bounds; the newest turn of all is there whatever its size.
	Turns(ctx context.Context, key run.SessionKey, most run.MemoryBounds) ([]run.Turn, error)
	// Ahead lists the unfinished runs of a conversation that were created before the one with this id, oldest first;
	// every unfinished one when id is empty.
	Ahead(ctx context.Context, key run.SessionKey, id string) ([]run.Ref, error)
}

// Approvals keeps calls that wait for a person.
type Approvals interface {
	// Approval returns one approval, or ErrUnknown.
	Approval(ctx context.Context, id string) (run.Approval, error)
	// Approvals lists approvals, newest first unless the filter says otherwise. Limit 0 selects all.
	Approvals(ctx context.Context, filter run.ApprovalFilter) (run.Page[run.Approval], error)
	// Resolve settles a pending approval in one conditional update: of N racing answers exactly one changes it, and
	// changed tells which. An approve or deny at or after ExpiresAt changes nothing, and neither does an expiry before
	// it; a cancel is always in time. The time is the ledger's. When it was the last pending one of a parked run, the
	// run's Phase becomes ready in the same transaction. A key is kept with the change: the same request again changes
	// nothing and gets the present record, and ErrKeyed says that the key was used for something else.
	Resolve(ctx context.Context, r run.Resolution) (a run.Approval, changed bool, err error)
	// Deadlines returns when pending approvals expire, the soonest first, at most limit, and the ledger's time.
	Deadlines(ctx context.Context, limit int) (now time.Time, next []run.Deadline, err error)
}

// Outbox keeps what somebody outside must be told. A driver that was asked for one commits a notice with every approval
// that is opened and every one that is settled; any other keeps none.
type Outbox interface {
	// Due returns notices that may be tried at a time, the longest due first, at most limit.
	Due(ctx context.Context, at time.Time, limit int) ([]run.Notice, error)
	// Postpone records a try that failed, and when the next may be. A notice that is gone stays gone.
	Postpone(ctx context.Context, id string, next time.Time) error
	// Forget removes a notice that was delivered or given up. One that is gone already is no error.
	Forget(ctx context.Context, id string) error
	// Outgoing returns a channel that holds a value whenever notices may have come since it was last read. There is
	// one reader.
	Outgoing() <-chan struct{}
}

// Pairs keeps what plugins remember from call to call. A drawer that nothing was put into is empty.
type Pairs interface {
	// Pair returns what is kept under a key, and whether anything is.
	Pair(ctx context.Context, drawer run.Drawer, key string) (pair run.Pair, found bool, err error)
	// PutPair keeps a value in place of the one before, whole or not at all: of N racing puts that expect one version,
	// exactly one succeeds. A put that makes nothing larger is taken by a full drawer too.
	PutPair(ctx context.Context, drawer run.Drawer, put run.Put) (run.PutOutcome, error)
	// DropPair forgets a value, and reports whether there was one.
	DropPair(ctx context.Context, drawer run.Drawer, key string) (found bool, err error)
}

// Readers keeps what the readers of answers said about them.
type Readers interface {
	// Feedback keeps what was said about a run, in place of what was said before. ErrUnknown when there is no such run
	// in that session.
	Feedback(ctx context.Context, said run.Feedback) error
	// FeedbackOn returns what was said last about a run, and whether anything was.
	FeedbackOn(ctx context.Context, ref run.Ref) (said run.Feedback, found bool, err error)
}

// Research keeps the book of each workspace's research. Entries are added and never changed or removed.
type Research interface {
	// Research returns the entries of a workspace from its newest plan on, oldest first. Without a plan there are none.
	Research(ctx context.Context, workspace string) ([]run.ResearchEntry, error)
	// AddResearch adds an entry and returns it with its Sequence and Time; a zero At is the ledger's time. after is the
	// newest sequence of the workspace that the writer knows, 0 for none. ErrExists when the entry's key, unless it is
	// empty, was used in that workspace; else ErrFenced when another entry came between.
	AddResearch(ctx context.Context, after int64, entry run.ResearchEntry) (run.ResearchEntry, error)
	// ResearchKeyed returns the entry that a workspace has under a key, of an older plan too, or ErrUnknown.
	ResearchKeyed(ctx context.Context, workspace, key string) (run.ResearchEntry, error)
}

// Notes takes audit records of calls that belong to no run.
type Notes interface {
	// Note commits one audit record in the same sequence as those of runs. Its Run is kept as given, and need not
	// exist: it names what the call belonged to.
	Note(ctx context.Context, record run.Audit) error
}

// Books reads what adds up.
type Books interface {
	// Audits returns audit records with Sequence greater than after, ascending, at most limit: those of a run, or all
	// when ref is nil. Notes are among all, and never among those of a run, whatever name they were given.
	Audits(ctx context.Context, ref *run.Ref, after int64, limit int) ([]run.Audit, error)
	// Stats counts the runs that a filter selects, whatever its limit, and all that belongs to them, once. Notes belong
	// to no run and are not counted.
	Stats(ctx context.Context, of run.Filter) (Stats, error)
	// Prune removes what is older than is kept, oldest first, in small batches, of at most limit runs, and counts it.
	// Notes and keys of answers go with the runs of their age.
	Prune(ctx context.Context, keep Retention, limit int) (Pruned, error)
	// Ping proves that the store can be written to.
	Ping(ctx context.Context) error
	// Close waits for what was accepted to be committed. Later calls return ErrClosed.
	Close() error
}

// Batch is what one Append commits together. All parts are optional.
type Batch struct {
	Events    []run.Event     // Sequence and Time are ignored and given by the ledger
	Approvals []run.Approval  // opened with their ask_user events
	Audits    []run.Audit     // Sequence is given by the ledger
	Settle    *run.Resolution // settles every approval of the run still pending, never as approved; its ID is ignored
	Park      bool            // the claim ends: Phase awaiting_approval, or ready when no approval is pending
	Release   bool            // the claim ends: handed back, and at once ready for the next
	Finish    *Finish         // the claim ends: the run is terminal, and approvals still pending are cancelled
}

// Finish ends a run.
type Finish struct {
	Status  run.Status // a terminal one
	Outcome run.Outcome
}

// Retention says what of finished runs is kept. Zero fields keep everything.
type Retention struct {
	Events    time.Duration // since the end of a run, its events; the last one stays as long as the run
	Runs      time.Duration // since its end, the run with all that belongs to it
	PerTenant int           // finished runs of one tenant, the newest
}

// Pruned counts what was removed.
type Pruned struct {
	Compacted int // runs that lost their events
	Runs      int
}

// CompactedError says that events are not there any more.
type CompactedError struct {
	First int64 // sequence of the first event that is
}

// Error says which are left.
func (e *CompactedError) Error() string {
	return fmt.Sprintf("events before %d were removed", e.First)
}

// Stats is the content of the operational summary.
type Stats struct {
	RunsByStatus      map[run.Status]int
	AvgRunDuration    time.Duration
	Events            int
	ErrorEvents       int
	RecentErrors      []RecentError // newest first, at most 5
	Audits            int           // decision records
	AvgToolDuration   time.Duration
	ApprovalsByStatus map[run.ApprovalStatus]int
	AvgResolution     time.Duration
	Usage             run.Usage
	Streams           map[string]Stream
}

// RecentError is one failed run, in words that are safe to show.
type RecentError struct {
	Run  run.Ref
	At   time.Time
	Code string
	Text string
}

// Stream is the size of one kind of record.
type Stream struct {
	Records int
	Bytes   int64
}
