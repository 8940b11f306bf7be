package blackbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const hookSecret = "the-secret-of-this-webhook"

// webhook is a receiver that fails while it is told to, and checks every signature.
type webhook struct {
	*httptest.Server
	mu      sync.Mutex
	failing bool
	forged  int
	tries   []told
}

// told is one try as it arrived.
type told struct {
	id, event, body string
	taken           bool
}

func newWebhook(t *testing.T) *webhook {
	t.Helper()
	h := &webhook{}
	h.Server = httptest.NewServer(http.HandlerFunc(h.take))
	t.Cleanup(h.Close)
	return h
}

func (h *webhook) take(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	mac := hmac.New(sha256.New, []byte(hookSecret))
	fmt.Fprintf(mac, "%s.%s", r.Header.Get("X-FastReAct-Timestamp"), body)
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Header.Get("X-FastReAct-Signature") != "v1="+hex.EncodeToString(mac.Sum(nil)) {
		h.forged++
	}
	h.tries = append(h.tries, told{r.Header.Get("X-FastReAct-Event-Id"), r.Header.Get("X-FastReAct-Event"), string(body), !h.failing})
	if h.failing {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func (h *webhook) fails(yes bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failing = yes
}

// taken lists the tries that were answered with yes.
func (h *webhook) taken() []told {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []told
	for _, try := range h.tries {
		if try.taken {
			all = append(all, try)
		}
	}
	return all
}

// await waits for n notices that were taken.
func (h *webhook) await(t *testing.T, n int) []told {
	t.Helper()
	until(t, 60*time.Second, func() (bool, string) {
		return len(h.taken()) >= n, fmt.Sprintf("%d notices, want %d", len(h.taken()), n)
	})
	return h.taken()
}

// tellingConfig asks for approval of bump and tells the webhook.
func tellingConfig(h *webhook, timeout string) string {
	return strings.Replace(approvalConfig(timeout), "approvals: {", fmt.Sprintf(
		"approvals: {notify: {webhook_url: %q, secret_env: HOOK_SECRET}, ", h.URL+"/hook"), 1)
}

func TestAnApprovalIsToldWhenItIsAskedForAndWhenItIsSettled(t *testing.T) {
	t.Parallel()
	h := newWebhook(t)
	model := newModel(t, func(a asked) said {
		if a.step() == 0 {
			return call("pska_bump", `{"note":"`+"\u202egnp.exe"+` \u001b[2J"}`)
		}
		return said{text: "done"}
	})
	s := start(t, model, tellingConfig(h, "60s"), "HOOK_SECRET="+hookSecret)
	stream := s.stream(ask("bump", nil))
	id := pendingID(t, stream)
	asked := h.await(t, 1)[0]
	var said struct {
		Event    string         `json:"event"`
		EventID  string         `json:"event_id"`
		Approval map[string]any `json:"approval"`
	}
	if err := json.Unmarshal([]byte(asked.body), &said); err != nil {
		t.Fatal(err)
	}
	_, raw := s.request("GET", "/v1/approvals/"+id, nil)
	record := s.object(raw)["approval"].(map[string]any)
	want := map[string]any{
		"event": "approval.requested", "id": id + ":requested", "tool": "pska_bump", "digest": record["args_digest"],
		"args": `{"note":"\u{202e}gnp.exe \u001b[2J"}`, "status": "pending",
	}
	got := map[string]any{
		"event": said.Event, "id": said.EventID, "tool": said.Approval["tool_name"], "digest": said.Approval["args_digest"],
		"args": said.Approval["tool_args_text"], "status": said.Approval["status"],
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notice (-want +got):\n%s", diff)
	}
	s.request("POST", "/v1/approvals/"+id+"/deny", map[string]any{"reason": "not today"})
	settled := h.await(t, 2)[1]
	if settled.event != "approval.settled" || !strings.Contains(settled.body, `"status":"denied"`) {
		t.Errorf("second notice %v", settled)
	}
	stream.rest()
	if h.forged > 0 || strings.Contains(asked.body+s.output.String(), hookSecret) {
		t.Errorf("%d notices without a good signature, or the secret was shown", h.forged)
	}
}

func TestANoticeOutlivesKillNineAndAReceiverThatIsDown(t *testing.T) {
	t.Parallel()
	h := newWebhook(t)
	h.fails(true)
	s := start(t, newModel(t, bumpThenAnswer), tellingConfig(h, "60s"), "HOOK_SECRET="+hookSecret)
	s.request("POST", "/v1/runs", ask("bump", map[string]any{"metadata": map[string]any{"run_id": "told"}}))
	id := pendingID(t, newFrames(t, s.open("GET", "/v1/runs/told/stream", nil).Body))
	s.kill()
	s.run()
	h.fails(false)
	if first := h.await(t, 1)[0]; first.id != id+":requested" {
		t.Errorf("notice %v", first)
	}
}

func TestARedirectOfTheWebhookIsNotFollowed(t *testing.T) {
	t.Parallel()
	stranger := newWebhook(t)
	redirecting := httptest.NewServer(http.RedirectHandler(stranger.URL, http.StatusTemporaryRedirect))
	defer redirecting.Close()
	h := &webhook{Server: redirecting}
	s := start(t, newModel(t, bumpThenAnswer), tellingConfig(h, "60s"), "HOOK_SECRET="+hookSecret)
	pendingID(t, s.stream(ask("bump", nil)))
	s.awaitOutput("redirects are not followed", 1)
	if n := len(stranger.taken()); n != 0 {
		t.Errorf("%d notices went elsewhere", n)
	}
}

func TestDoctorAsksTheWebhook(t *testing.T) {
	t.Parallel()
	h := newWebhook(t)
	s := start(t, newModel(t, bumpThenAnswer), tellingConfig(h, "60s"), "HOOK_SECRET="+hookSecret)
	examine := func() string {
		command := exec.Command(binary, "doctor", "--config", s.config, "--json")
		command.Dir, command.Env = s.folder, append(os.Environ(), "HOOK_SECRET="+hookSecret)
		out, _ := command.Output() // it fails when a part is broken
		return string(out)
	}
	if out := examine(); !strings.Contains(out, "took a signed ping") || h.taken()[0].event != "ping" {
		t.Errorf("doctor: %s", out)
	}
	h.fails(true)
	if out := examine(); !strings.Contains(out, "the receiver answered 500") {
		t.Errorf("doctor: %s", out)
	}
}

// watchApprovals runs `approvals watch` until the test ends.
func (s *service) watchApprovals(args ...string) *digester {
	s.t.Helper()
	d := &digester{t: s.t, output: &lockedBuffer{}, exited: make(chan struct{})}
	d.command = exec.Command(binary, append([]string{"approvals", "watch", "--url", s.url, "--interval", "50ms"}, args...)...)
	d.command.Stdout, d.command.Stderr = d.output, d.output
	if err := d.command.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { _ = d.command.Wait(); close(d.exited) }()
	s.t.Cleanup(func() { d.kill(); <-d.exited })
	return d
}

func TestAWatchAnnouncesWhatComesAndOutlivesARestart(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, func(a asked) said {
		if a.step() == 0 {
			return call("pska_bump", `{"note":"`+"\u202ehidden\u2028"+`"}`)
		}
		return said{text: "done"}
	}), approvalConfig("60s"))
	fixAddress(t, s)
	plain, lines := s.watchApprovals(), s.watchApprovals("--json")
	submit := func(run string) string {
		s.request("POST", "/v1/runs", ask("bump", map[string]any{"metadata": map[string]any{"run_id": run}}))
		return pendingID(t, newFrames(t, s.open("GET", "/v1/runs/"+run+"/stream", nil).Body))
	}
	first := submit("one")
	plain.awaitOutput("approvals approve " + first)
	lines.awaitOutput(first)
	s.kill()
	plain.awaitOutput("still watching")
	s.run()
	second := submit("two")
	plain.awaitOutput("approvals approve " + second)
	s.request("POST", "/v1/approvals/"+second+"/deny", map[string]any{"reason": "no"})
	plain.awaitOutput(second + ": pska_bump is denied")
	lines.awaitOutput(`"event":"settled"`)
	if n := strings.Count(plain.String(), "approvals approve "+first); n != 1 {
		t.Errorf("the first call was announced %d times:\n%s", n, plain)
	}
	for _, said := range []string{plain.String(), lines.String()} {
		if strings.ContainsAny(said, "\u202e\u2028\x1b") {
			t.Errorf("it can drive a terminal: %q", said)
		}
	}
	if !strings.Contains(plain.String(), `\u{202e}hidden\u2028`) || !strings.Contains(plain.String(), "sha256:") {
		t.Errorf("arguments or digest are not shown:\n%s", plain)
	}
	for _, d := range []*digester{plain, lines} {
		_ = d.command.Process.Signal(syscall.SIGINT)
		if code := d.ends(); code != 0 {
			t.Errorf("exit code %d:\n%s", code, d)
		}
	}
}
