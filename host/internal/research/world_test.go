package research_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/policy"
	"github.com/fastreact/fastreact/host/internal/research"
	"github.com/fastreact/fastreact/host/internal/run"
)

const (
	space  = "alpha"
	object = "evidence:11111111-2222-4333-8444-555555555555"
	other  = "entity:99999999-2222-4333-8444-555555555555"
)

// world is a desk with a gate, a ledger and a provider around it. A test changes what it is about before it calls desk.
type world struct {
	t         *testing.T
	book      *book // in memory
	store     research.Store
	provider  *provider
	providers []research.Provider
	rules     policy.Config
	limits    research.Limits
	revision  int64
	lookErr   error
	objects   []string
	clock     *clock
	door      research.Door // the gate of the desk that was built last
	recorder  *recorder
}

func newWorld(t *testing.T) *world {
	kept := &book{}
	w := &world{
		t: t, book: kept, store: kept, provider: newProvider(t), revision: 7, objects: []string{object, other},
		clock: &clock{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}, recorder: &recorder{},
	}
	w.providers = []research.Provider{{ID: "archive", URL: w.provider.url, Client: &http.Client{}}}
	return w
}

// desk builds a desk and its gate, as a process does when it starts.
func (w *world) desk() *research.Desk {
	w.t.Helper()
	var door research.Door
	desk, err := research.New(research.Config{
		Store: w.store, Providers: w.providers, Door: func() research.Door { return door }, GrantTTL: time.Hour,
		Limits: w.limits, Clock: w.clock.Now,
		Look: w.look,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	rules, err := policy.Compile(w.rules)
	if err != nil {
		w.t.Fatal(err)
	}
	built, err := gate.New(gate.Config{Sources: []gate.Source{desk}, Rules: rules, Recorder: w.recorder, Clock: w.clock.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	door, w.door = built, built
	return desk
}

func (w *world) look(_ context.Context, workspace, id string) (int64, bool, error) {
	return w.revision, workspace == space && slices.Contains(w.objects, id), w.lookErr
}

// prepared is a desk with a plan.
func (w *world) prepared() (*research.Desk, research.Snapshot) {
	w.t.Helper()
	desk := w.desk()
	return desk, w.prepare(desk)
}

func (w *world) prepare(desk *research.Desk) research.Snapshot {
	w.t.Helper()
	return must(w.t)(desk.Prepare(w.t.Context(), space, preparation()))
}

func preparation() research.Preparation {
	return research.Preparation{SelectionIDs: []string{object}, Question: "Who signed it?"}
}

// authorises is a decision that authorises actions of a plan and selects them.
func authorises(plan research.Snapshot, ids ...string) research.Decision {
	return decides(plan, research.Authorize, ids...)
}

func decides(plan research.Snapshot, choice research.Choice, ids ...string) research.Decision {
	d := research.Decision{PlanID: plan.PlanID, InputRevision: plan.InputRevision}
	for _, id := range ids {
		d.Decisions = append(d.Decisions, research.ActionChoice{ActionID: id, Choice: choice})
		if choice == research.Authorize {
			d.SelectedActionIDs = append(d.SelectedActionIDs, id)
		}
	}
	return d
}

// granted is a desk with a grant for every action of its plan.
func (w *world) granted() (*research.Desk, research.Snapshot) {
	w.t.Helper()
	desk, plan := w.prepared()
	return desk, must(w.t)(desk.Grant(w.t.Context(), space, authorises(plan, actions(plan)...)))
}

func launch(plan research.Snapshot, ids ...string) research.Launch {
	return research.Launch{GrantID: plan.Grants[0].GrantID, InputRevision: plan.InputRevision, ActionIDs: ids}
}

func actions(s research.Snapshot) []string {
	ids := []string{}
	for _, a := range s.Actions {
		ids = append(ids, a.ActionID)
	}
	return ids
}

// must fails the test when a desk refuses.
func must(t *testing.T) func(research.Snapshot, error) research.Snapshot {
	return func(s research.Snapshot, err error) research.Snapshot {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// wantRefusal fails the test unless a desk refused with this code and sentence.
func wantRefusal(t *testing.T, err error, code run.Code, sentence string) {
	t.Helper()
	var public *run.Error
	if !errors.As(err, &public) || public.Code != code || public.Sentence != sentence {
		t.Errorf("got %v, want %s: %s", err, code, sentence)
	}
}

func (w *world) wantContacts(n int) {
	w.t.Helper()
	if got := len(w.provider.requests()); got != n {
		w.t.Errorf("the provider was contacted %d times, want %d", got, n)
	}
}

// clock stands still until a test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// provider answers and remembers what it was asked.
type provider struct {
	url    string
	answer func(http.ResponseWriter, *http.Request)

	mu   sync.Mutex
	seen []*http.Request
}

func newProvider(t *testing.T) *provider {
	p := &provider{answer: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("The archive knows of two signatures."))
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.seen = append(p.seen, r)
		p.mu.Unlock()
		p.answer(w, r)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL + "/lookup?edition=2"
	return p
}

func (p *provider) requests() []*http.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seen)
}

// book is a ledger's research in memory.
type book struct {
	mu      sync.Mutex
	entries []run.ResearchEntry
	refuse  func(run.ResearchEntry) error // asked before an entry is added
	between func()                        // happens before an entry is added, once
}

func (b *book) Research(_ context.Context, workspace string) ([]run.ResearchEntry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []run.ResearchEntry
	for _, entry := range b.entries {
		if entry.Workspace != workspace {
			continue
		}
		if entry.Kind == run.ResearchPlan {
			found = nil
		}
		if entry.Kind == run.ResearchPlan || len(found) > 0 {
			found = append(found, entry)
		}
	}
	return found, nil
}

func (b *book) AddResearch(_ context.Context, after int64, entry run.ResearchEntry) (run.ResearchEntry, error) {
	if first := b.takeBetween(); first != nil {
		first()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuse != nil {
		if err := b.refuse(entry); err != nil {
			return run.ResearchEntry{}, err
		}
	}
	newest := int64(0)
	for _, earlier := range b.entries {
		if earlier.Workspace != entry.Workspace {
			continue
		}
		if entry.Key != "" && earlier.Key == entry.Key {
			return run.ResearchEntry{}, ledger.ErrExists
		}
		newest = earlier.Sequence
	}
	if newest != after {
		return run.ResearchEntry{}, ledger.ErrFenced
	}
	entry.Sequence, entry.Body = int64(len(b.entries)+1), slices.Clone(entry.Body)
	b.entries = append(b.entries, entry)
	return entry, nil
}

func (b *book) takeBetween() func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := b.between
	b.between = nil
	return first
}

func (b *book) ResearchKeyed(_ context.Context, workspace, key string) (run.ResearchEntry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, entry := range b.entries {
		if entry.Workspace == workspace && entry.Key == key {
			return entry, nil
		}
	}
	return run.ResearchEntry{}, ledger.ErrUnknown
}

func (b *book) kinds() []run.ResearchKind {
	b.mu.Lock()
	defer b.mu.Unlock()
	kinds := []run.ResearchKind{}
	for _, entry := range b.entries {
		kinds = append(kinds, entry.Kind)
	}
	return kinds
}

// recorder is the gate's books.
type recorder struct {
	err    error
	before func(run.Audit) // happens before a record is kept

	mu    sync.Mutex
	notes []run.Audit
}

func (r *recorder) Record(context.Context, run.Fence, run.Audit) error {
	return errors.New("no call here belongs to a run")
}

func (r *recorder) Note(_ context.Context, record run.Audit) error {
	if r.before != nil {
		r.before(record)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, record)
	return r.err
}
