package blackbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestADigestJobIsReadWholeAndCompletedOnce(t *testing.T) {
	t.Parallel()
	p := startPSKA(t)
	model := newModel(t, digestAll)
	s := startDigest(t, model, "")
	p.add("job-1", 5, map[string]any{"user_id": "ada", "tenant_id": "home"})
	d := s.work(p, "--once", "--worker-id", "w1")
	if code := d.ends(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, d)
	}
	job := p.awaitJob("job-1", "succeeded", d)
	if n := p.moved("job-1", "succeeded"); n != 1 {
		t.Errorf("completed %d times", n)
	}
	if n := len(p.requested("/digest/batches/job-1")); n != 3 {
		t.Errorf("%d pages were read, want 3", n)
	}
	for i := range 5 {
		if item := fmt.Sprintf("src_job-1_%d", i); !strings.Contains(model.requests()[0].question(), item) {
			t.Errorf("the model was not shown %s", item)
		}
	}
	result := job["result"].(map[string]any)
	runs := s.runsOf("job-1")
	if len(runs) != 1 || result["run_id"] != runs[0]["run_id"] || result["content"] != "Two facts about the harbour." {
		t.Errorf("result %v of runs %v", result, runs)
	}
	metadata := runs[0]["metadata"].(map[string]any)
	delete(metadata, "identity")
	delete(metadata, "run_id")
	want := map[string]any{
		"caller": "pska_digest_worker", "purpose": "digest", "tenant_key": "home", "pska_user_id": "ada",
		"pska_job_id": "job-1", "scope": map[string]any{"job_id": "job-1", "cursor": nil}, "pska_worker_id": "w1",
		"tool_budget": map[string]any{"pska_pska_write_candidates": 1.0, "pska_pska_job_context": 1.0},
	}
	if diff := cmp.Diff(want, metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if runs[0]["user_key"] != "pska:ada" || runs[0]["tenant_key"] != "home" {
		t.Errorf("run %v", runs[0])
	}
	for _, call := range p.requested("/jobs/job-1") {
		for header, value := range map[string]string{
			"X-Pska-Caller": "pska_digest_worker", "X-Pska-Tenant-Id": "home", "X-Pska-User-Id": "ada",
			"X-Pska-Service-Token": pskaToken,
		} {
			if call.Headers[header] != value {
				t.Errorf("%s %s: %s is %q", call.Method, call.Path, header, call.Headers[header])
			}
		}
	}
	if strings.Contains(d.String(), pskaToken) {
		t.Error("the token stands in the log")
	}
}

func TestUrgentJobsComeFirstAndOthersWaitForTheirTime(t *testing.T) {
	t.Parallel()
	p := startPSKA(t)
	model := newModel(t, digestAll)
	s := startDigest(t, model, "")
	p.add("later", 1, map[string]any{"run_after": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)})
	p.add("low", 1, map[string]any{"priority": 1})
	p.add("high", 1, map[string]any{"priority": 9})
	p.add("other", 1, map[string]any{"job_type": "something_else"})
	d := s.work(p, "--once")
	d.ends()
	var order []string
	for _, request := range model.requests() {
		if request.step() == 0 {
			order = append(order, request.jobOf())
		}
	}
	if diff := cmp.Diff([]string{"high", "low"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s\n%s", diff, d)
	}
}

// held is a model that waits in its second step until it is let go, at the latest when the test ends.
func held(t *testing.T) (model *scriptedModel, letGo func()) {
	t.Helper()
	gate := make(chan struct{})
	model = newModel(t, func(a asked) said {
		if a.step() == 1 {
			<-gate
		}
		return digestAll(a)
	})
	letGo = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(letGo)
	return model, letGo
}

// awaitRun waits until there is a run over a job that has called a tool.
func (s *service) awaitRun(job string) {
	s.t.Helper()
	s.await(30*time.Second, func() (bool, string) {
		runs := s.runsOf(job)
		return len(runs) > 0 && runs[0]["event_count"].(float64) > 2, fmt.Sprintf("no run over %s: %v", job, runs)
	})
}

func TestAKilledWorkersJobIsTakenUpByAnotherWithTheSameRun(t *testing.T) {
	t.Parallel()
	p := startPSKA(t)
	model, letGo := held(t)
	s := startDigest(t, model, "")
	p.add("job-1", 3, nil)
	first := s.work(p, "--lease-seconds", "2")
	s.awaitRun("job-1")
	first.kill()
	second := s.work(p, "--lease-seconds", "2")
	second.awaitOutput("run taken up")
	letGo()
	p.awaitJob("job-1", "succeeded", second)
	if runs := s.runsOf("job-1"); len(runs) != 1 {
		t.Errorf("%d runs, want 1: %v", len(runs), runs)
	}
	if done, wrote := p.moved("job-1", "succeeded"), s.wrote("job-1"); done != 1 || wrote != 1 {
		t.Errorf("completed %d times, written %d times", done, wrote)
	}
}

// awaitOutput waits until the worker has logged a text.
func (d *digester) awaitOutput(text string) {
	d.t.Helper()
	until(d.t, 60*time.Second, func() (bool, string) {
		return strings.Contains(d.String(), text), "the worker does not say " + text + ":\n" + d.String()
	})
}

func TestALeaseIsRenewedWhileTheRunLives(t *testing.T) {
	t.Parallel()
	p := startPSKA(t)
	model, letGo := held(t)
	s := startDigest(t, model, "")
	p.add("job-1", 1, nil)
	d := s.work(p, "--lease-seconds", "1")
	until(t, 60*time.Second, func() (bool, string) {
		return len(p.requested("/lease")) > 6, "the lease is not renewed:\n" + d.String()
	})
	letGo()
	p.awaitJob("job-1", "succeeded", d)
	if n := p.moved("job-1", "running"); n != 1 {
		t.Errorf("leased %d times", n)
	}
}

func TestALostLeaseEndsTheRunAndCompletesNothing(t *testing.T) {
	t.Parallel()
	p := startPSKA(t)
	model, _ := held(t)
	s := startDigest(t, model, "")
	p.add("job-1", 1, nil)
	d := s.work(p, "--lease-seconds", "1")
	s.awaitRun("job-1")
	p.control("POST", "steal/job-1", nil, nil)
	d.awaitOutput("lease lost")
	run := s.runsOf("job-1")[0]
	s.awaitStatus(run["run_id"].(string), "cancelled")
	if settled := append(p.requested("/complete"), p.requested("/fail")...); len(settled) > 0 {
		t.Errorf("reported although the lease was lost: %v", settled)
	}
	if s.wrote("job-1") != 0 {
		t.Error("the run wrote after the lease was lost")
	}
}

func TestPSKAThatIsDownIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]map[string]any{
		"gone": {"kind": "drop"}, "broken": {"kind": "status", "status": 503},
	} {
		t.Run(name, func(t *testing.T) {
			p := startPSKA(t)
			model, letGo := held(t)
			s := startDigest(t, model, "")
			p.add("job-1", 1, nil)
			d := s.work(p, "--lease-seconds", "30")
			s.awaitRun("job-1")
			fault["times"] = -1
			p.fault(fault)
			p.add("job-2", 1, nil)
			letGo()
			d.awaitOutput("result not delivered")
			p.fault()
			p.awaitJob("job-1", "succeeded", d)
			p.awaitJob("job-2", "succeeded", d)
			if n := p.moved("job-1", "succeeded"); n != 1 {
				t.Errorf("completed %d times", n)
			}
		})
	}
}

func TestAnAnswerThatIsLostOrComesTwiceCompletesOnce(t *testing.T) {
	t.Parallel()
	s := startDigest(t, newModel(t, digestAll), "")
	for name, fault := range map[string]map[string]any{
		"lost completion":      {"kind": "lose", "path": "/complete", "times": 1},
		"twice completed":      {"kind": "twice", "path": "/complete", "times": 1},
		"lost lease":           {"kind": "lose", "path": "/lease", "times": 1},
		"twice leased":         {"kind": "twice", "path": "/lease", "times": 1},
		"broken batch":         {"kind": "status", "status": 500, "path": "/digest", "times": 2},
		"refused for too much": {"kind": "status", "status": 429, "path": "/complete", "times": 1},
		"slow":                 {"kind": "delay", "ms": 300, "times": 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startPSKA(t)
			job := "job-" + strings.ReplaceAll(name, " ", "-")
			p.fault(fault)
			p.add(job, 1, nil)
			d := s.work(p, "--lease-seconds", "3")
			p.awaitJob(job, "succeeded", d)
			d.stop()
			if done, runs, wrote := p.moved(job, "succeeded"), len(s.runsOf(job)), s.wrote(job); done != 1 || runs != 1 || wrote != 1 {
				t.Errorf("completed %d times with %d runs, written %d times\n%s", done, runs, wrote, d)
			}
		})
	}
}

func TestAServiceKilledInARunGoesOnWithItAndTheJobIsDoneOnce(t *testing.T) {
	t.Parallel()
	p := startPSKA(t)
	model, letGo := held(t)
	s := startDigest(t, model, `tools: {idempotent: ["pska_*"]}`+"\n")
	fixAddress(t, s)
	p.add("job-1", 1, nil)
	d := s.work(p)
	s.awaitRun("job-1")
	s.kill()
	s.run()
	letGo()
	job := p.awaitJob("job-1", "succeeded", d)
	if failed, done := p.moved("job-1", "queued"), p.moved("job-1", "succeeded"); failed != 0 || done != 1 {
		t.Errorf("handed back %d times, completed %d times", failed, done)
	}
	if id := job["result"].(map[string]any)["run_id"].(string); !strings.HasSuffix(id, "-1") {
		t.Errorf("the result is of run %s", id)
	}
}

// fixAddress makes a service listen on the same port when it is started again.
func fixAddress(t *testing.T, s *service) {
	t.Helper()
	text, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	fixed := strings.Replace(string(text), "127.0.0.1:0", strings.TrimPrefix(s.url, "http://"), 1)
	if err := os.WriteFile(s.config, []byte(fixed), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAFailedRunIsReportedAndMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	p := startPSKA(t)
	var mended atomic.Bool
	model := &scriptedModel{}
	model.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !mended.Load() {
			http.Error(w, "out of order", http.StatusInternalServerError)
			return
		}
		stream(w, digestAll(model.take(r)))
	}))
	t.Cleanup(model.Close)
	s := startDigest(t, model, "")
	p.add("job-1", 1, nil)
	d := s.work(p)
	until(t, 60*time.Second, func() (bool, string) {
		return p.moved("job-1", "queued") > 0 || p.moved("job-1", "succeeded") > 0, "nothing is reported:\n" + d.String()
	})
	mended.Store(true)
	p.awaitJob("job-1", "succeeded", d)
	if p.moved("job-1", "failed") != 0 {
		t.Error("the failure was reported as final")
	}
}

func TestARunThatAPersonCancelsIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	p := startPSKA(t)
	model, _ := held(t)
	s := startDigest(t, model, "")
	p.add("job-1", 1, nil)
	d := s.work(p)
	s.awaitRun("job-1")
	s.request("POST", "/v1/runs/"+s.runsOf("job-1")[0]["run_id"].(string)+"/cancel", nil)
	job := p.awaitJob("job-1", "failed", d)
	if !strings.Contains(job["error"].(string), "run_cancelled") || p.moved("job-1", "queued") != 0 {
		t.Errorf("job %v", job)
	}
}

func TestTwoWorkersDoEachJobOnce(t *testing.T) {
	t.Parallel()
	p := startPSKA(t)
	s := startDigest(t, newModel(t, digestAll), "")
	for i := range 8 {
		p.add(fmt.Sprintf("job-%d", i), 2, nil)
	}
	workers := []*digester{s.work(p, "--concurrency", "2"), s.work(p, "--concurrency", "2"), s.work(p)}
	for i := range 8 {
		id := fmt.Sprintf("job-%d", i)
		p.awaitJob(id, "succeeded", workers[0], workers[1])
		if leased, done, wrote := p.moved(id, "running"), p.moved(id, "succeeded"), s.wrote(id); leased != 1 || done != 1 || wrote != 1 {
			t.Errorf("%s: leased %d, completed %d, written %d times", id, leased, done, wrote)
		}
	}
}

func TestADigestRunWritesOnceAndSeesNoFiles(t *testing.T) {
	t.Parallel()
	p := startPSKA(t)
	model := newModel(t, func(a asked) said {
		if a.step() > 0 {
			return said{text: "done"}
		}
		return said{calls: []wish{
			{"w1", "pska_pska_write_candidates", `{"job_id":"job-1"}`},
			{"w2", "pska_pska_write_candidates", `{"job_id":"job-1"}`},
			{"c1", "pska_pska_job_context", `{}`},
			{"c2", "pska_pska_job_context", `{}`},
			{"x", "exec", `{"command":"ls"}`},
			{"r", "read_file", `{"path":"a"}`},
		}}
	})
	s := startDigest(t, model, "")
	p.add("job-1", 1, nil)
	p.awaitJob("job-1", "succeeded", s.work(p, "--allowed-tools", "pska_pska_write_candidates,pska_pska_job_context,exec,read_file"))
	stream := newFrames(t, s.open("GET", "/v1/runs/"+s.runsOf("job-1")[0]["run_id"].(string)+"/stream", nil).Body)
	got := map[string]string{}
	for _, result := range of(stream.rest(), "tool_result") {
		event := result.json(t)
		text, _, _ := strings.Cut(event["content"].(string), "]")
		if strings.HasPrefix(text, "[") {
			got[event["tool_call_id"].(string)] = text + "]"
		}
	}
	denied := "[TOOL_POLICY_DENIED]"
	if diff := cmp.Diff(map[string]string{"w2": denied, "c2": denied, "x": denied, "r": denied}, got); diff != "" {
		t.Errorf("denied (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"pska_pska_job_context", "pska_pska_write_candidates"}, model.requests()[0].toolNames()); diff != "" {
		t.Errorf("visible tools (-want +got):\n%s", diff)
	}
	if s.wrote("job-1") != 1 {
		t.Errorf("written %d times", s.wrote("job-1"))
	}
}

func TestAnotherCallersDigestIsBoundedToo(t *testing.T) {
	t.Parallel()
	model := newModel(t, func(a asked) said {
		if a.step() > 0 {
			return said{text: "done"}
		}
		return said{calls: []wish{{"w1", "pska_pska_write_candidates", `{}`}, {"w2", "pska_pska_write_candidates", `{}`}, {"w3", "pska_pska_write_candidates", `{}`}}}
	})
	s := startDigest(t, model, "")
	body := ask("digest", map[string]any{"metadata": map[string]any{
		"purpose": "digest", "tool_budget": map[string]any{"pska_pska_write_candidates": 2},
	}})
	results := of(s.stream(body).rest(), "tool_result")
	if got := results[2].json(t)["content"]; got != "[TOOL_POLICY_DENIED] tool 'pska_pska_write_candidates' budget of 2 calls is used up" {
		t.Errorf("third call: %v", got)
	}
	for _, name := range model.requests()[0].toolNames() {
		if name == "read_file" || name == "exec" || strings.HasSuffix(name, "_files") {
			t.Errorf("a digest run sees %s", name)
		}
	}
}

func TestAStoppedWorkerHandsItsJobBack(t *testing.T) {
	t.Parallel()
	p := startPSKA(t)
	model, _ := held(t)
	s := startDigest(t, model, "")
	p.add("job-1", 1, nil)
	d := s.work(p, "--grace", "100ms")
	s.awaitRun("job-1")
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, d)
	}
	if job := p.job("job-1"); job["status"] != "queued" || !strings.Contains(job["error"].(string), "worker_stopped") {
		t.Errorf("job %v", job)
	}
	s.awaitStatus(s.runsOf("job-1")[0]["run_id"].(string), "cancelled")
}

func TestAStoppedWorkerFinishesWhatIsNearlyDone(t *testing.T) {
	t.Parallel()
	p := startPSKA(t)
	model, letGo := held(t)
	s := startDigest(t, model, "")
	p.add("job-1", 1, nil)
	p.add("job-2", 1, nil)
	d := s.work(p, "--grace", "50s")
	s.awaitRun("job-1")
	time.AfterFunc(300*time.Millisecond, letGo)
	d.stop()
	if first, second := p.job("job-1"), p.job("job-2"); first["status"] != "succeeded" || second["status"] != "queued" {
		t.Errorf("jobs %v and %v\n%s", first, second, d)
	}
}

// TestNoJobIsLostOrDoneTwiceWhateverDies kills workers and the service while PSKA misbehaves.
func TestNoJobIsLostOrDoneTwiceWhateverDies(t *testing.T) {
	t.Parallel()
	p := startPSKA(t)
	s := startDigest(t, newModel(t, digestAll), "")
	fixAddress(t, s)
	const jobs = 12
	for i := range jobs {
		p.add(fmt.Sprintf("job-%d", i), 3, nil)
	}
	var workers []*digester
	for round := range 6 {
		workers = append(workers, s.work(p, "--lease-seconds", "2", "--concurrency", "2"))
		p.fault(
			map[string]any{"kind": "lose", "path": "/complete", "times": 1},
			map[string]any{"kind": "drop", "times": 3},
			map[string]any{"kind": "status", "status": 500, "path": "/lease", "times": 1},
			map[string]any{"kind": "twice", "times": 2},
		)
		p.awaitMoves(4 * (round + 1))
		workers[round].kill()
		if round == 2 {
			s.kill()
			s.run()
		}
	}
	workers = append(workers, s.work(p, "--lease-seconds", "2", "--concurrency", "4"))
	for i := range jobs {
		id := fmt.Sprintf("job-%d", i)
		job := p.awaitJob(id, "succeeded", workers[len(workers)-1])
		if n := p.moved(id, "succeeded"); n != 1 {
			t.Errorf("%s was completed %d times", id, n)
		}
		var result struct {
			RunID string `json:"run_id"`
		}
		if err := json.Unmarshal(mustJSON(t, job["result"]), &result); err != nil || result.RunID == "" {
			t.Errorf("%s has the result %v", id, job["result"])
		}
	}
}

// awaitMoves waits until jobs have changed their state n times, or everything is done.
func (p *pskaJobs) awaitMoves(n int) {
	p.t.Helper()
	until(p.t, 60*time.Second, func() (bool, string) {
		var jobs map[string]map[string]any
		p.control("GET", "jobs", nil, &jobs)
		moves, open := 0, 0
		for id, job := range jobs {
			if job["status"] != "succeeded" {
				open++
			}
			for _, to := range []string{"running", "succeeded", "queued"} {
				moves += p.moved(id, to)
			}
		}
		return moves >= n || open == 0, fmt.Sprintf("%d moves, want %d", moves, n)
	})
}

func TestWrongFlagsOfTheWorkerAreUsageErrors(t *testing.T) {
	t.Parallel()
	p := &pskaJobs{url: "nonsense"}
	s := &service{t: t, url: "http://127.0.0.1:1"}
	for _, args := range [][]string{{}, {"--pska-url", ""}, {"--pska-url", "http://x", "--concurrency", "0"}, {"--pska-url", "http://x", "--lease-seconds", "0"}} {
		if code := s.work(p, args...).ends(); code != 2 {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
}
