package research

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/run"
)

// Store keeps the entries of workspaces; the ledger does.
type Store interface {
	Research(ctx context.Context, workspace string) ([]run.ResearchEntry, error)
	AddResearch(ctx context.Context, after int64, entry run.ResearchEntry) (run.ResearchEntry, error)
	ResearchKeyed(ctx context.Context, workspace, key string) (run.ResearchEntry, error)
}

// Door is the one door to every tool; the gate is.
type Door interface {
	Check(ctx context.Context, call run.Call) gate.Verdict
	Do(ctx context.Context, verdict gate.Verdict, approval *run.Approval) run.CallOutcome
}

// Look finds an object in a workspace's graph, and the graph's revision, whether the object is known or not. Its error
// may be a *run.Error with the code snapshot_missing, snapshot_invalid or snapshot_too_large.
type Look func(ctx context.Context, workspace, objectID string) (revision int64, known bool, err error)

// Provider is somebody outside who may be asked.
type Provider struct {
	ID     string
	URL    string       // http or https, without a user and a fragment
	Client *http.Client // goes out as the operator allows; redirects and cookies are taken from it
}

// Limits bound a plan. Zero fields have the default.
type Limits struct {
	Grants        int           // decisions of a person about one plan; default 64
	Campaigns     int           // of one plan; default 64
	EntryBytes    int           // of one entry in the ledger; default 65536
	ResponseBytes int           // of a provider's answer; default 4096
	Active        time.Duration // how long a contact lasts at most; default 5 s
}

// Config is what a desk is made of. Store, Look and Door are required.
type Config struct {
	Store     Store
	Look      Look
	Providers []Provider
	Door      func() Door   // asked when a contact is granted or made: the gate has the desk among its sources
	GrantTTL  time.Duration // how long a grant lives; default 1 h
	Limits    Limits
	Clock     func() time.Time // default time.Now
	Log       *slog.Logger
}

// Desk answers for the research of every workspace. It may be used from many goroutines.
type Desk struct {
	cfg       Config
	providers map[string]Provider
	tools     []run.Tool

	mu       sync.Mutex
	underway map[string]*contact // by call id
}

// New returns a desk, or an error when a part is missing or a provider cannot be used.
func New(cfg Config) (*Desk, error) {
	if cfg.Store == nil || cfg.Look == nil || cfg.Door == nil {
		return nil, errors.New("build research: store, look and door are required")
	}
	cfg.GrantTTL = cmp.Or(max(cfg.GrantTTL, 0), time.Hour)
	cfg.Limits = Limits{
		Grants: cmp.Or(max(cfg.Limits.Grants, 0), 64), Campaigns: cmp.Or(max(cfg.Limits.Campaigns, 0), 64),
		EntryBytes:    cmp.Or(max(cfg.Limits.EntryBytes, 0), 65536),
		ResponseBytes: cmp.Or(max(cfg.Limits.ResponseBytes, 0), 4096), Active: cmp.Or(max(cfg.Limits.Active, 0), 5*time.Second),
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	d := &Desk{cfg: cfg, providers: map[string]Provider{}, underway: map[string]*contact{}}
	for _, p := range cfg.Providers {
		if _, twice := d.providers[p.ID]; twice {
			return nil, fmt.Errorf("build research: provider %s is there twice", p.ID)
		}
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("build research: provider %s: %w", p.ID, err)
		}
		d.providers[p.ID] = p.strict()
	}
	d.tools = tools(cfg.Providers)
	return d, nil
}

// Snapshot returns a workspace's research as it is now. An action that is being carried out at this moment has no
// result yet.
func (d *Desk) Snapshot(ctx context.Context, workspace string) (Snapshot, error) {
	s, err := d.load(ctx, workspace)
	if err != nil {
		return Snapshot{}, err
	}
	return d.shown(s), nil
}

// Released reports whether work on a plan may go on: a campaign was admitted under a live grant of exactly that plan.
func (d *Desk) Released(ctx context.Context, workspace, planID string) (bool, error) {
	s, err := d.load(ctx, workspace)
	if err != nil {
		return false, err
	}
	return s.released(planID, d.now()), nil
}

func (d *Desk) shown(s state) Snapshot {
	shown := s.snapshot()
	for i, action := range shown.Actions {
		if action.ResultStatus == ResultUnknown && d.isUnderway(s.callOf(action.ActionID)) {
			shown.Actions[i].ResultStatus = ""
		}
	}
	return shown
}

// load reads and folds a workspace's entries.
func (d *Desk) load(ctx context.Context, workspace string) (state, error) {
	if workspace == "" {
		return state{}, refuse(CodeNoWorkspace, "No workspace is active.")
	}
	entries, err := d.cfg.Store.Research(ctx, workspace)
	if err != nil {
		return state{}, fmt.Errorf("read research: %w", err)
	}
	s, err := fold(entries)
	if err != nil {
		return state{}, fmt.Errorf("read research: %w", err)
	}
	return s, nil
}

// now is the time as the ledger keeps it.
func (d *Desk) now() time.Time { return d.cfg.Clock().UTC().Truncate(time.Microsecond) }
