package blackbox

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fastreact/fastreact/testdata/peers"
)

// origin is the run that really parked. The others are copies of it.
const origin = "parked-000000"

// crowdOf is a service on a store in which many runs wait for a person, each with its own approval.
type crowdOf struct {
	*cluster
	t    *testing.T
	size int
	idle int                           // megabytes that the service held at most while one run waited
	do   func(statement string) string // in the store, behind the service's back
	text string                        // how a statement turns bytes into text, and back
	blob string
}

// parkedSize is how many runs wait: as many as the environment asks for, else some.
func parkedSize(t *testing.T) (size int, patience time.Duration) {
	t.Helper()
	asked := os.Getenv("FASTREACT_PARKED")
	if asked == "" {
		return 3000, 20 * time.Second
	}
	size, err := strconv.Atoi(asked)
	if err != nil || size < 2000 {
		t.Fatalf("FASTREACT_PARKED is %q", asked)
	}
	return size, time.Second
}

// parkMany parks one run, copies it, and starts the service on all of them.
func parkMany(t *testing.T, driver string) *crowdOf {
	t.Helper()
	model, _ := newPlanned(t)
	cfg := clusterConfig{nodes: 1, more: "approvals: {timeout: 24h}\n"}
	file := filepath.Join(t.TempDir(), "f.db")
	if driver == "sqlite" {
		peers.Need(t, "sqlite3")
		cfg.edit = func(_ int, text string) string {
			return strings.Replace(text, "store: {driver: postgres, dsn_env: BLACKBOX_DSN", fmt.Sprintf("store: {path: %q", file), 1)
		}
	}
	m := &crowdOf{cluster: startCluster(t, model, cfg), t: t, text: "convert_from(%s, 'UTF8')", blob: "convert_to(%s, 'UTF8')"}
	m.do = m.sql
	if driver == "sqlite" {
		m.text, m.blob = "CAST(%s AS TEXT)", "CAST(%s AS BLOB)"
		m.do = func(statement string) string { return sqlite3(t, file, statement) }
	}
	m.size, _ = parkedSize(t)
	m.submit(0, origin, "bump a")
	s := m.nodes[0]
	s.await(20*time.Second, func() (bool, string) {
		_, raw := s.request("GET", "/v1/runs/"+origin, nil)
		return s.object(raw)["phase"] == "awaiting_approval", string(raw)
	})
	s.awaitPlugins()
	m.idle = m.peak()
	s.kill()
	<-s.exited
	m.copy(driver)
	began := time.Now()
	s.run()
	t.Logf("%s: %d wait; the service answers after %v", driver, m.size, time.Since(began).Round(time.Millisecond))
	s.awaitPlugins()
	return m
}

// columns lists the columns of a table but for some.
func (m *crowdOf) columns(driver, table string, but ...string) []string {
	ask := "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = '" + table + "'"
	if driver == "sqlite" {
		ask = "SELECT name FROM pragma_table_info('" + table + "')"
	}
	return slices.DeleteFunc(strings.Fields(m.do(ask)), func(c string) bool { return slices.Contains(but, c) })
}

// copy makes as many runs of the one as there shall be.
func (m *crowdOf) copy(driver string) {
	m.t.Helper()
	id := m.do("SELECT id FROM approvals")
	place := m.do("SELECT place FROM runs")
	number := fmt.Sprintf("substr(r.id, %d)", len("parked-")+1)
	fresh := fmt.Sprintf("'%s' || %s", id[:20], number) // a ULID, too
	renamed := func(column string) string {
		return fmt.Sprintf(m.blob, fmt.Sprintf("replace(replace("+m.text+", '%s', r.id), '%s', %s)", column, origin, id, fresh))
	}
	insert := func(table string, from string, values map[string]string, but ...string) {
		names := m.columns(driver, table, but...)
		var all []string
		for _, name := range names {
			all = append(all, cmp.Or(values[name], "o."+name))
		}
		m.do(fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s", table, strings.Join(names, ", "), strings.Join(all, ", "), from))
	}
	six := "'parked-' || substr('000000' || CAST(n AS TEXT), -6)"
	if driver == "postgres" {
		six = "'parked-' || lpad(CAST(n AS TEXT), 6, '0')"
	}
	numbers := fmt.Sprintf("(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < %d) SELECT n FROM s) AS s", m.size-1)
	insert("runs", "runs o, "+numbers, map[string]string{"id": six, "session_id": six, "created_at": "o.created_at + n"}, "place")
	of := fmt.Sprintf(" o JOIN runs r ON r.place <> %s WHERE o.run = %[1]s", place)
	insert("run_bodies", "run_bodies"+of, map[string]string{"run": "r.place", "request": renamed("o.request"), "listing": renamed("o.listing")})
	insert("events", "events"+of, map[string]string{"run": "r.place", "payload": renamed("o.payload")})
	insert("audits", "audits"+of, map[string]string{"run": "r.place"}, "sequence")
	insert("approvals", "approvals"+of, map[string]string{"run": "r.place", "id": fresh, "session_id": "r.session_id", "created_at": "r.created_at", "expires_at": "o.expires_at - o.created_at + r.created_at"}, "place")
	if driver == "postgres" {
		m.do("ANALYZE")
	}
}

// page lists approvals and returns their ids, how many there are in all, and how long that took.
func (m *crowdOf) page(query string) (ids []string, total int, took time.Duration) {
	m.t.Helper()
	s, began := m.nodes[0], time.Now()
	status, raw := s.request("GET", "/v1/approvals?"+query, nil)
	took = time.Since(began)
	body := s.object(raw)
	if status != 200 {
		m.t.Fatalf("approvals: %d %s", status, raw)
	}
	for _, one := range body["approvals"].([]any) {
		ids = append(ids, one.(map[string]any)["request_id"].(string))
	}
	count, _ := body["total_count"].(float64)
	return ids, int(count), took
}

// approve says yes and returns how long the tool waited for that.
func (m *crowdOf) approve(id string) time.Duration {
	m.t.Helper()
	before := len(m.deeds("a"))
	s, began := m.nodes[0], time.Now()
	if status, raw := s.request("POST", "/v1/approvals/"+id+"/approve", nil); status != 200 {
		m.t.Fatalf("approve: %d %s", status, raw)
	}
	for len(m.deeds("a")) == before && time.Since(began) < time.Minute {
		<-time.After(2 * time.Millisecond)
	}
	return time.Since(began)
}

// peak is the most memory that the process ever held, in megabytes.
func (m *crowdOf) peak() int {
	m.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.nodes[0].command.Process.Pid))
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if err != nil || found == nil {
		m.t.Fatalf("no memory in %s, %v", status, err)
	}
	kilobytes, _ := strconv.Atoi(string(found[1]))
	return kilobytes / 1024
}

// mostMemory is what the process may hold, in megabytes, however many runs wait.
const mostMemory = 300

// TestManyParkedRunsCostNoMemoryAndKeepNobodyWaiting lets as many runs wait as FASTREACT_PARKED says.
func TestManyParkedRunsCostNoMemoryAndKeepNobodyWaiting(t *testing.T) {
	for _, driver := range []string{"sqlite", "postgres"} {
		t.Run(driver, func(t *testing.T) { manyParked(t, driver) })
	}
}

func manyParked(t *testing.T, driver string) {
	m := parkMany(t, driver)
	_, patience := parkedSize(t)
	var pages, waits []time.Duration
	var ids []string
	for offset := range 5 {
		some, total, took := m.page(fmt.Sprintf("status=pending&limit=200&offset=%d", offset*200))
		if len(some) != 200 || total != m.size {
			t.Fatalf("%d of %d approvals, want 200 of %d", len(some), total, m.size)
		}
		ids, pages = append(ids, some...), append(pages, took)
	}
	for _, id := range ids[:20] {
		waits = append(waits, m.approve(id))
	}
	t.Logf("%s: pages %v, approve to tool call %v", driver, pages, waits)
	began := time.Now()
	m.submit(0, "newcomer", "deed new")
	m.nodes[0].awaitStatus("newcomer", "completed")
	t.Logf("%s: a new run was over after %v", driver, time.Since(began).Round(time.Millisecond))

	overdue := min(1000, m.size/30)
	m.do(fmt.Sprintf("UPDATE approvals SET expires_at = created_at WHERE id IN (SELECT id FROM approvals WHERE status = 'pending' ORDER BY id LIMIT %d)", overdue))
	began = time.Now()
	m.nodes[0].await(2*time.Minute, func() (bool, string) {
		_, total, _ := m.page("status=expired&limit=1")
		return total == overdue, fmt.Sprintf("%d have expired, want %d", total, overdue)
	})
	swept := time.Since(began)
	left, _, _ := m.page("status=pending&limit=1")
	waits = append(waits, m.approve(left[0]))
	t.Logf("%s: %d expired within %v; an approve meanwhile reached its tool after %v", driver, overdue, swept.Round(time.Millisecond), waits[len(waits)-1])
	if slowest := slices.Max(waits); slowest > patience {
		t.Errorf("an approve reached its tool after %v", slowest)
	}
	peak := m.peak()
	t.Logf("%s: %d MB at most, and %d MB with one run", driver, peak, m.idle)
	if peak > mostMemory {
		t.Errorf("the process held %d MB, and may hold %d", peak, mostMemory)
	}
}
