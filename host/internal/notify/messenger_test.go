package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

const secret = "a secret of at least sixteen bytes"

// box is an outbox in memory.
type box struct {
	mu       sync.Mutex
	waiting  map[string]run.Notice
	due      map[string]time.Time
	outgoing chan struct{}
	off      time.Duration // of its clock from this machine's
}

func newBox(notices ...run.Notice) *box {
	b := &box{waiting: map[string]run.Notice{}, due: map[string]time.Time{}, outgoing: make(chan struct{}, 1)}
	for _, n := range notices {
		b.waiting[n.ID], b.due[n.ID] = n, n.CreatedAt
	}
	return b
}

func (b *box) Due(_ context.Context, at time.Time, limit int) ([]run.Notice, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var due []run.Notice
	for id, n := range b.waiting {
		if !b.due[id].After(at) {
			due = append(due, n)
		}
	}
	slices.SortFunc(due, func(a, c run.Notice) int { return strings.Compare(a.ID, c.ID) })
	return due[:min(limit, len(due))], nil
}

func (b *box) Postpone(_ context.Context, id string, next time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.waiting[id]
	n.Attempts++
	b.waiting[id], b.due[id] = n, next
	return nil
}

func (b *box) Forget(_ context.Context, id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiting, id)
	return nil
}

func (b *box) Outgoing() <-chan struct{} { return b.outgoing }

func (b *box) Now(context.Context) (time.Time, error) { return time.Now().Add(b.off), nil }

func (b *box) left() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting)
}

// receiver answers tries with statuses, the last one for ever, and keeps what it was sent.
type receiver struct {
	mu       sync.Mutex
	statuses []int
	tries    []*http.Request
	bodies   [][]byte
	at       []time.Time
}

func (r *receiver) RoundTrip(request *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(request.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries, r.bodies, r.at = append(r.tries, request), append(r.bodies, body), append(r.at, time.Now())
	status := r.statuses[min(len(r.tries), len(r.statuses))-1]
	if status == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{
		StatusCode: status, Body: io.NopCloser(bytes.NewReader(nil)), Request: request,
		Header: http.Header{"Location": {"http://elsewhere.example/"}},
	}, nil
}

type plainMask struct{ secret string }

func (m plainMask) Text(text string) string { return strings.ReplaceAll(text, m.secret, "[redacted]") }
func (m plainMask) JSON(raw []byte) []byte  { return []byte(m.Text(string(raw))) }

func notice(at time.Time) run.Notice {
	return run.Notice{
		ID: "approval-1:requested", Kind: run.ApprovalRequested, CreatedAt: at,
		Approval: run.Approval{
			ID: "approval-1", Run: run.Ref{Tenant: "pska", ID: "run-1"}, ToolName: "exec", Status: run.Pending,
			Args: json.RawMessage(`{"command":"rm ` + "\u202e\x1b[2J" + ` TOKEN-9"}`), ArgsDigest: "sha256:abc",
			Decision: run.Decision{Action: sdk.RequireApproval}, CreatedAt: at, ExpiresAt: at.Add(time.Minute),
		},
	}
}

// deliver runs a messenger for a while, in a time of its own.
func deliver(t *testing.T, r *receiver, span time.Duration, cfg Config, edit func(*run.Notice)) *box {
	t.Helper()
	var b *box
	synctest.Test(t, func(t *testing.T) {
		n := notice(time.Now())
		if edit != nil {
			edit(&n)
		}
		b = newBox(n)
		cfg.Outbox, cfg.URL, cfg.Secret, cfg.Mask = b, "http://hook.example/x", secret, plainMask{"TOKEN-9"}
		cfg.HTTP = &http.Client{Transport: r}
		ctx, stop := context.WithTimeout(t.Context(), span)
		defer stop()
		New(cfg).Run(ctx)
	})
	return b
}

func TestANoticeIsSignedAndShowsNothingThatAScreenWouldObey(t *testing.T) {
	r := &receiver{statuses: []int{204}}
	if b := deliver(t, r, time.Minute, Config{}, nil); b.left() != 0 || len(r.tries) != 1 {
		t.Fatalf("%d left after %d tries", b.left(), len(r.tries))
	}
	header := r.tries[0].Header
	if got := Sign(secret, header.Get("X-FastReAct-Timestamp"), r.bodies[0]); got != header.Get("X-FastReAct-Signature") {
		t.Errorf("signature %s", header.Get("X-FastReAct-Signature"))
	}
	var said struct {
		Event    string
		EventID  string `json:"event_id"`
		Approval struct {
			Args   string `json:"tool_args_text"`
			Digest string `json:"args_digest"`
		}
	}
	if err := json.Unmarshal(r.bodies[0], &said); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"approval.requested", "approval-1:requested", `{"command":"rm \u{202e}\u{1b}[2J [redacted]"}`, "sha256:abc",
		"approval.requested", "approval-1:requested",
	}
	got := []string{
		said.Event, said.EventID, said.Approval.Args, said.Approval.Digest,
		header.Get("X-FastReAct-Event"), header.Get("X-FastReAct-Event-Id"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notice (-want +got):\n%s", diff)
	}
}

func TestANoticeIsTriedAgainUnderTheSameIDUntilItIsTaken(t *testing.T) {
	r := &receiver{statuses: []int{0, 500, 302, 429, 200}}
	b := deliver(t, r, time.Hour, Config{}, nil)
	if b.left() != 0 || len(r.tries) != 5 {
		t.Fatalf("%d left after %d tries", b.left(), len(r.tries))
	}
	ids := map[string]bool{}
	for i, try := range r.tries {
		ids[try.Header.Get("X-FastReAct-Event-Id")] = true
		if try.URL.Host != "hook.example" {
			t.Errorf("a redirect was followed to %s", try.URL)
		}
		if i > 1 && r.at[i].Sub(r.at[i-1]) <= r.at[i-1].Sub(r.at[i-2])/2 {
			t.Errorf("pauses do not grow: %v", r.at)
		}
	}
	if len(ids) != 1 {
		t.Errorf("ids %v", ids)
	}
}

func TestANoticeIsDueByTheClockOfItsOutbox(t *testing.T) {
	for name, off := range map[string]time.Duration{"fast": time.Hour, "slow": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			r := &receiver{statuses: []int{500, 200}}
			synctest.Test(t, func(t *testing.T) {
				b := newBox(notice(time.Now().Add(off)))
				b.off = off
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				New(Config{
					Outbox: b, URL: "http://hook.example/x", Secret: secret, Mask: plainMask{"TOKEN-9"},
					HTTP: &http.Client{Transport: r},
				}).Run(ctx)
			})
			if len(r.tries) != 2 || r.at[1].Sub(r.at[0]) > 5*time.Second {
				t.Errorf("tried at %v", r.at)
			}
		})
	}
}

func TestANoticeIsGivenUpAfterItsLastTry(t *testing.T) {
	r := &receiver{statuses: []int{500}}
	if b := deliver(t, r, 24*time.Hour, Config{MaxAttempts: 3}, nil); b.left() != 0 || len(r.tries) != 3 {
		t.Errorf("%d left after %d tries", b.left(), len(r.tries))
	}
}

func TestAReceiverThatIsGoneIsLeftAlone(t *testing.T) {
	r := &receiver{statuses: []int{410}}
	if b := deliver(t, r, time.Hour, Config{}, nil); b.left() != 0 || len(r.tries) != 1 {
		t.Errorf("%d left after %d tries", b.left(), len(r.tries))
	}
}

func TestARequestThatIsSettledIsNotAskedForAgain(t *testing.T) {
	r := &receiver{statuses: []int{200}}
	b := deliver(t, r, time.Hour, Config{}, func(n *run.Notice) { n.Attempts, n.Approval.Status = 1, run.Expired })
	if b.left() != 0 || len(r.tries) != 0 {
		t.Errorf("%d left after %d tries", b.left(), len(r.tries))
	}
}

func TestLongArgumentsAreCutAndSaidToBe(t *testing.T) {
	n := notice(time.Now())
	n.Approval.Args = json.RawMessage(`{"a":"` + strings.Repeat("x", 2*longestShown) + `"}`)
	said := messageOf(n, plainMask{"-"})
	if !said.Approval.ToolArgsCut || len([]rune(said.Approval.ToolArgsText)) != longestShown+1 {
		t.Errorf("%v, %d characters", said.Approval.ToolArgsCut, len([]rune(said.Approval.ToolArgsText)))
	}
}
