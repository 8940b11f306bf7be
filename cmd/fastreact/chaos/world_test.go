package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// lease is how long a node that is silent keeps its runs.
const lease = 2 * time.Second

// world is a store, the nodes on it, a model, a tool server, clients, and what became of them.
type world struct {
	t      *testing.T
	seed   uint64
	driver driver
	off    string // rules that are left out
	folder string
	model  *httptest.Server
	client *http.Client
	nodes  []*node
	began  time.Time
	calm   time.Duration // without a new frame for any client, after which nobody waits for runs to end any more
	frames atomic.Int64  // that clients have seen
	env    []string      // of every node
	disk   string        // a folder that is a disk of its own; empty where there is none

	trips     []*trip
	clients   sync.WaitGroup // of all trips
	measuring sync.WaitGroup // of how long runs stay without a driver

	mu         sync.Mutex
	dice       *rand.Rand
	faults     []string
	violations []violation
	answers    map[string][]answer // by approval
	tally      tally
}

// violation is something that must not be.
type violation struct{ rule, text string }

// driver is where a world keeps its runs.
type driver interface {
	name() string
	config(w *world, node int) string // the lines of the section store
	nodes() int
	prepare(w *world)
	faults() []fault // what may be done to it beside what may be done to nodes
}

// newWorld starts nodes on an empty store.
func newWorld(t *testing.T, seed uint64, d driver, off string) *world {
	t.Helper()
	w := emptyWorld(t, seed, d, off)
	var starting sync.WaitGroup
	for _, n := range w.nodes {
		starting.Go(func() { w.begin(n) })
	}
	starting.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return w
}

// begin starts a node for the first time, with more in its environment.
func (w *world) begin(n *node, env ...string) {
	if !n.start(env...) {
		w.t.Errorf("the program does not start:\n%s", n.last())
	}
}

// emptyWorld is one whose nodes are not started yet.
func emptyWorld(t *testing.T, seed uint64, d driver, off string) *world {
	t.Helper()
	w := &world{
		t: t, seed: seed, driver: d, off: off, folder: t.TempDir(), began: time.Now(), calm: time.Minute,
		dice: rand.New(rand.NewPCG(seed, 1)), answers: map[string][]answer{},
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, ResponseHeaderTimeout: 5 * time.Second}},
	}
	w.model = httptest.NewServer(http.HandlerFunc(answerModel))
	t.Cleanup(w.close)
	d.prepare(w)
	for i := range d.nodes() {
		n := &node{w: w, name: fmt.Sprintf("node-%d", i+1), config: filepath.Join(w.folder, fmt.Sprintf("node-%d.yaml", i+1))}
		if err := os.WriteFile(n.config, []byte(w.configure(i)), 0o600); err != nil {
			t.Fatal(err)
		}
		w.nodes = append(w.nodes, n)
	}
	return w
}

// configure is the configuration of one node.
func (w *world) configure(i int) string {
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	return fmt.Sprintf(`server: {addr: "127.0.0.1:0", keepalive: 1s, shutdown_grace: 3s}
model: {base_url: %q, name: scripted, first_byte_timeout: 20s}
store: {%s}
workspace: {root: %q}
workers: {chat: 100, background: 32, lease: %s}
approvals: {timeout: 120s}
policy: {tool_rules: {pay: require_approval}}
tools: {idempotent: [shop_look]}
plugins: {cache_dir: %q}
mcp:
  servers:
    - {name: shop, command: %q, env: {CHAOS_ORACLE: %q}}
`, w.model.URL+"/v1", w.driver.config(w, i), filepath.Join(w.folder, fmt.Sprintf("ws-%d", i+1)), lease, cache,
		self, w.oracle())
}

func (w *world) oracle() string       { return filepath.Join(w.folder, "oracle.log") }
func (w *world) journal() string      { return filepath.Join(w.folder, "journal.log") }
func (w *world) mark() string         { return "CHAOS_WORLD=" + w.folder }
func (w *world) since() time.Duration { return time.Since(w.began).Round(time.Millisecond) }

// marks is what every node's environment has.
func (w *world) marks() []string {
	marks := append([]string{w.mark()}, w.env...)
	marks = append(marks, "FASTREACT_FAILPOINTS_LOG="+w.journal())
	if w.off != "" {
		marks = append(marks, "FASTREACT_FAILPOINTS_OFF="+w.off)
	}
	return marks
}

// close ends every node by force.
func (w *world) close() {
	for _, n := range w.nodes {
		if n.gone() != nil {
			n.signal(syscall.SIGCONT)
			n.kill()
		}
	}
	w.client.CloseIdleConnections()
	w.model.Close()
}

// violate notes something that must not be.
func (w *world) violate(rule, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violations = append(w.violations, violation{rule, fmt.Sprintf(format, args...)})
}

// fault notes what was done to the nodes.
func (w *world) fault(format string, args ...any) {
	text := fmt.Sprintf("%v ", w.since()) + fmt.Sprintf(format, args...)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, text)
}

// roll throws the world's dice.
func (w *world) roll(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dice.IntN(n)
}

// between is a duration that the seed chooses.
func (w *world) between(low, high time.Duration) time.Duration {
	return low + time.Duration(w.roll(int(high-low)))
}

// up returns where some node answers, or nothing when none is up.
func (w *world) up(dice *rand.Rand) string {
	var urls []string
	for _, n := range w.nodes {
		if url, _ := n.now(); url != "" {
			urls = append(urls, url)
		}
	}
	if len(urls) == 0 {
		return ""
	}
	return urls[dice.IntN(len(urls))]
}

// tell fails the test with what must not be, and how it came about.
func (w *world) tell() {
	w.t.Helper()
	if len(w.violations) == 0 {
		return
	}
	for _, v := range w.violations[:min(20, len(w.violations))] {
		w.t.Errorf("%s: %s", v.rule, v.text)
	}
	w.t.Errorf("%d violations with seed %d on %s; faults:\n%s", len(w.violations), w.seed, w.driver.name(),
		strings.Join(w.faults, "\n"))
	for _, n := range w.nodes {
		w.t.Log(n.last())
	}
}

// expect fails the test unless what must not be was found: a suite that finds nothing where a rule is left out proves
// nothing where it holds.
func (w *world) expect(rules ...string) {
	w.t.Helper()
	found := map[string]int{}
	for _, v := range w.violations {
		found[v.rule]++
	}
	for _, rule := range rules {
		if found[rule] > 0 {
			w.t.Logf("found, as it must be: %v", found)
			return
		}
	}
	w.t.Errorf("nothing of %v was found: %v; faults:\n%s", rules, found, strings.Join(w.faults, "\n"))
}

// awaitCalm returns when nothing moves any more although clients wait, or ctx ends.
func (w *world) awaitCalm(ctx context.Context) {
	for seen, since := int64(-1), time.Now(); ctx.Err() == nil && time.Since(since) < w.calm; pause(ctx, forGood) {
		if now := w.frames.Load(); now != seen {
			seen, since = now, time.Now()
		}
	}
}

// pause waits, or returns earlier when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
