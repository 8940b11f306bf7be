package blackbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// pskaJobs is one process of the stand-in for PSKA's job API.
type pskaJobs struct {
	t   *testing.T
	url string
	log string
}

const digestToken = "service-token-of-this-test"

const pskaToken = "pska-token-of-this-test"

// startPSKA builds and runs the stand-in.
func startPSKA(t *testing.T) *pskaJobs {
	t.Helper()
	program := filepath.Join(filepath.Dir(binary), "pskajobs")
	buildPSKA.Do(func() {
		if out, err := exec.Command("go", "build", "-o", program, "./testdata/pskajobs").CombinedOutput(); err != nil {
			t.Fatalf("build pskajobs: %v\n%s", err, out)
		}
	})
	p := &pskaJobs{t: t, log: filepath.Join(t.TempDir(), "jobs.log")}
	output := &lockedBuffer{}
	command := exec.Command(program, "-log", p.log, "-token", pskaToken)
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	until(t, 20*time.Second, func() (bool, string) {
		p.url = bound.FindString(output.String())
		return p.url != "", "pskajobs does not start: " + output.String()
	})
	return p
}

var buildPSKA sync.Once

// until asks again and again until the answer is yes.
func until(t *testing.T, limit time.Duration, ask func() (yes bool, otherwise string)) {
	t.Helper()
	(&service{t: t, output: &lockedBuffer{}}).await(limit, ask)
}

// control sends one request to the stand-in's own routes and decodes the answer.
func (p *pskaJobs) control(method, path string, body, into any) {
	p.t.Helper()
	request, err := http.NewRequest(method, p.url+"/_control/"+path, bytes.NewReader(mustJSON(p.t, body)))
	if err != nil {
		p.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, _ := io.ReadAll(response.Body)
	if response.StatusCode/100 != 2 {
		p.t.Fatalf("%s %s: %d %s", method, path, response.StatusCode, raw)
	}
	if into != nil {
		if err := json.Unmarshal(raw, into); err != nil {
			p.t.Fatal(err)
		}
	}
}

// add queues a job with n items.
func (p *pskaJobs) add(id string, n int, more map[string]any) {
	p.t.Helper()
	items := []any{}
	for i := range n {
		items = append(items, map[string]any{"source_item_id": fmt.Sprintf("src_%s_%d", id, i), "text": "note"})
	}
	job := map[string]any{"id": id, "items": items}
	for key, value := range more {
		job[key] = value
	}
	p.control("POST", "jobs", job, nil)
}

// fault makes the stand-in misbehave.
func (p *pskaJobs) fault(faults ...map[string]any) {
	p.t.Helper()
	p.control("POST", "faults", faults, nil)
}

// job shows one job.
func (p *pskaJobs) job(id string) map[string]any {
	p.t.Helper()
	var jobs map[string]map[string]any
	p.control("GET", "jobs", nil, &jobs)
	return jobs[id]
}

// awaitJob waits until a job has a status.
func (p *pskaJobs) awaitJob(id, want string, witnesses ...fmt.Stringer) map[string]any {
	p.t.Helper()
	var job map[string]any
	until(p.t, 60*time.Second, func() (bool, string) {
		job = p.job(id)
		said := ""
		for _, witness := range witnesses {
			said += "\n" + witness.String()
		}
		return job["status"] == want, fmt.Sprintf("job %s is not %s: %v%s", id, want, job, said)
	})
	return job
}

// moved counts how often a job came to a status.
func (p *pskaJobs) moved(id, to string) int {
	p.t.Helper()
	raw, err := os.ReadFile(p.log)
	if err != nil {
		p.t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		var move struct{ Job, To string }
		if json.Unmarshal([]byte(line), &move) == nil && move.Job == id && move.To == to {
			n++
		}
	}
	return n
}

// requested lists the requests of the API so far whose path holds the text.
func (p *pskaJobs) requested(path string) []pskaRequest {
	p.t.Helper()
	var all, matching []pskaRequest
	p.control("GET", "requests", nil, &all)
	for _, one := range all {
		if strings.Contains(one.Path, path) {
			matching = append(matching, one)
		}
	}
	return matching
}

// pskaRequest is one request as it arrived.
type pskaRequest struct {
	Method, Path, Query, Fault string
	Headers                    map[string]string
}

// digester is one process of the worker.
type digester struct {
	t       *testing.T
	command *exec.Cmd
	output  *lockedBuffer
	exited  chan struct{}
}

func (d *digester) String() string { return d.output.String() }

// work starts a worker between a service and the stand-in.
func (s *service) work(p *pskaJobs, args ...string) *digester {
	s.t.Helper()
	d := &digester{t: s.t, output: &lockedBuffer{}, exited: make(chan struct{})}
	d.command = exec.Command(binary, append([]string{
		"pska-worker", "--url", s.url, "--pska-url", p.url, "--poll", "100ms", "--json",
	}, args...)...)
	d.command.Env = append(os.Environ(), "PSKA_SERVICE_TOKEN="+pskaToken, "FASTREACT_SERVICE_TOKEN="+s.token)
	d.command.Stdout, d.command.Stderr = d.output, d.output
	if err := d.command.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { _ = d.command.Wait(); close(d.exited) }()
	s.t.Cleanup(func() { d.kill(); <-d.exited })
	return d
}

// kill is kill -9.
func (d *digester) kill() { _ = d.command.Process.Kill() }

// stop is SIGTERM, and waits for the end.
func (d *digester) stop() int {
	d.t.Helper()
	_ = d.command.Process.Signal(syscall.SIGTERM)
	return d.ends()
}

// ends waits until the worker has ended and returns its exit code.
func (d *digester) ends() int {
	d.t.Helper()
	select {
	case <-d.exited:
	case <-time.After(60 * time.Second):
		d.t.Fatalf("the worker does not end:\n%s", d)
	}
	return d.command.ProcessState.ExitCode()
}

// startDigest runs a service whose scripted PSKA has the tools of a digest.
func startDigest(t *testing.T, model *scriptedModel, more string) *service {
	t.Helper()
	folder := t.TempDir()
	s := &service{
		t: t, folder: folder, config: filepath.Join(folder, "fastreact.yaml"),
		token: digestToken, env: []string{"FASTREACT_SERVICE_TOKEN=" + digestToken},
	}
	text := strings.Replace(config(t, folder, model, more), "env: {", `env: {BLACKBOX_MCP_DIGEST: "1", `, 1)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run()
	return s
}

// digestTools are the two tools that only a digest needs.
func digestTools() []any {
	open := map[string]any{"type": "object", "properties": map[string]any{
		"job_id": map[string]any{"type": "string"}, "user_id": map[string]any{"type": "string"},
	}}
	return []any{
		map[string]any{"name": "pska_job_context", "description": "the job's context", "inputSchema": open},
		map[string]any{"name": "pska_write_candidates", "description": "write candidates down", "inputSchema": open},
	}
}

var jobInQuestion = regexp.MustCompile(`batch of job ([A-Za-z0-9-]+)`)

// jobOf is the job that a digest run is about.
func (a asked) jobOf() string {
	found := jobInQuestion.FindStringSubmatch(a.question())
	if found == nil {
		return ""
	}
	return found[1]
}

// digestAll is a model that asks for the context, writes the candidates, and says so.
func digestAll(a asked) said {
	args := fmt.Sprintf(`{"job_id":%q}`, a.jobOf())
	switch a.step() {
	case 0:
		return said{calls: []wish{{"ctx", "pska_pska_job_context", args}}}
	case 1:
		return said{calls: []wish{{"write", "pska_pska_write_candidates", args}}}
	}
	return said{text: "Two facts about the harbour."}
}

// runsOf lists the runs over a job.
func (s *service) runsOf(job string) []map[string]any {
	s.t.Helper()
	_, raw := s.request("GET", "/v1/runs", nil)
	var of []map[string]any
	for _, one := range s.object(raw)["runs"].([]any) {
		run := one.(map[string]any)
		if run["metadata"].(map[string]any)["pska_job_id"] == job {
			of = append(of, run)
		}
	}
	return of
}

// wrote counts how often the scripted PSKA was told to write a job's candidates.
func (s *service) wrote(job string) int {
	s.t.Helper()
	n := 0
	for _, params := range received(s.t, s.oracleLog()) {
		if string(params["name"]) == `"pska_write_candidates"` && strings.Contains(string(params["arguments"]), `"`+job+`"`) {
			n++
		}
	}
	return n
}
