package blackbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// sentence is one event of a strict stream: a name and an object, and nothing beside them.
type sentence struct {
	name, data string
	raw        string
}

// visit is one answer of the service to a request of a strict stream.
type visit struct {
	t      *testing.T
	status int
	header http.Header
	raw    string
	all    []sentence
}

// sentenceShape is all that stands between two blank lines of a strict stream, comments apart.
var sentenceShape = regexp.MustCompile(`^event: ([a-z]+)\ndata: (\{.*\})$`)

// visit asks and reads to the end. Whatever is no event and no comment fails the test.
func (s *service) visit(path string, body any, headers ...string) *visit {
	s.t.Helper()
	response := s.open("POST", path, body, headers...)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", path, err, s.output)
	}
	v := &visit{t: s.t, status: response.StatusCode, header: response.Header, raw: string(raw)}
	if response.StatusCode == http.StatusOK {
		v.read()
	}
	return v
}

// chats asks one question at /api/chat.
func (s *service) chats(query string) *visit {
	s.t.Helper()
	return s.visit("/api/chat", map[string]any{"query": query})
}

func (v *visit) read() {
	v.t.Helper()
	blocks := strings.Split(v.raw, "\n\n")
	if blocks[len(blocks)-1] != "" {
		v.t.Errorf("the stream ends within a frame: %q", v.raw)
	}
	for _, block := range blocks[:len(blocks)-1] {
		if strings.HasPrefix(block, ":") && !strings.Contains(block, "\n") {
			continue
		}
		found := sentenceShape.FindStringSubmatch(block)
		if found == nil {
			v.t.Fatalf("no event of a strict stream: %q", block)
		}
		v.all = append(v.all, sentence{found[1], found[2], block})
	}
}

// of returns the data of all events of one name, decoded.
func (v *visit) of(name string) (all []map[string]any) {
	v.t.Helper()
	for _, one := range v.all {
		if one.name != name {
			continue
		}
		var data map[string]any
		if err := json.Unmarshal([]byte(one.data), &data); err != nil {
			v.t.Fatalf("%q: %v", one.raw, err)
		}
		all = append(all, data)
	}
	return all
}

// one returns the only event of a name.
func (v *visit) one(name string) map[string]any {
	v.t.Helper()
	all := v.of(name)
	if len(all) != 1 {
		v.t.Fatalf("%d events %s, want 1: %d\n%s", len(all), name, v.status, v.raw)
	}
	return all[0]
}

// run is the id of the stored run.
func (v *visit) run() string {
	v.t.Helper()
	id, _ := v.one("metadata")["run_id"].(string)
	return id
}

// order is the stream in one line: names, with the codes of statuses and failures and the outcome.
func (v *visit) order() string {
	v.t.Helper()
	var words []string
	for _, one := range v.all {
		var data struct {
			Code, Outcome string
			Type          string `json:"content_type"`
		}
		_ = json.Unmarshal([]byte(one.data), &data)
		words = append(words, strings.TrimSuffix(one.name+" "+data.Code+data.Outcome+data.Type, " "))
	}
	return strings.Join(words, ", ")
}

// afterMetadata is every byte behind the first event.
func (v *visit) afterMetadata() string {
	_, rest, _ := strings.Cut(v.raw, "\n\n")
	return strings.ReplaceAll(rest, ": keepalive\n\n", "") // the machine's pace, not the stream's words
}

// Orders of whole streams.
const (
	orderOfReport   = "metadata, status ROUTING, status PLANNING, status COLLECTING_EVIDENCE, status ANALYZING, status VERIFYING, content DIAGNOSIS_REPORT, done SUCCESS"
	orderOfRepaired = "metadata, status ROUTING, status PLANNING, status COLLECTING_EVIDENCE, status ANALYZING, status VERIFYING, status REPAIRING, status VERIFYING, content DIAGNOSIS_REPORT, done SUCCESS"
	orderOfFallback = "metadata, status ROUTING, status PLANNING, status COLLECTING_EVIDENCE, status ANALYZING, status VERIFYING, status REPAIRING, status VERIFYING, content FALLBACK, done FALLBACK"
)

// opening is the first question of a conversation: what a guarded run is about, however often it is repaired.
func (a asked) opening() string {
	var text string
	for _, m := range a.Messages {
		if m.Role == "user" {
			_ = json.Unmarshal(m.Content, &text)
			return text
		}
	}
	return text
}

// results lists what tools have answered, in order.
func (a asked) toolResults() (all []string) {
	for _, m := range a.Messages {
		if said := text(m.Content); m.Role == "tool" && said != nil {
			all = append(all, *said)
		}
	}
	return all
}

var evidenceIDs = regexp.MustCompile(`"evidence_id":"([^"]+)"`)

// cited are the ids of the evidence so far, in order.
func (a asked) cited() (ids []string) {
	for _, found := range evidenceIDs.FindAllStringSubmatch(strings.Join(a.toolResults(), "\n"), -1) {
		ids = append(ids, found[1])
	}
	return ids
}

// routing says whether the model is asked which desk a question belongs to.
func (a asked) routing() bool { return strings.Contains(a.system(), "You sort questions") }

// reporting is a draft with one finding, which cites all evidence.
func reporting(a asked, statement string) said {
	return said{text: draft(statement, statement, a.cited()...)}
}

func draft(summary, statement string, ids ...string) string {
	raw, _ := json.Marshal(map[string]any{
		"summary":      summary,
		"findings":     []any{map[string]any{"statement": statement, "severity": "warning", "evidence_ids": slices.Concat([]string{}, ids)}},
		"likely_cause": "", "recommended_actions": []string{"Ask the payment service."},
	})
	return string(raw)
}

// faultLine is what the planted fault wrote into the log.
const faultLine = `2026-11-30T17:00:00Z ERROR checkout failed: status 503 from payment after 2400 ms`

// Statements that the planted fault carries, and one that it does not.
const (
	trueWords     = `The log says "checkout failed" with status 503.`
	inventedWords = `The log says "checkout failed" with status 504.`
)

// readsLog is a model that diagnoses: it looks into the log, then answers as draft says.
func readsLog(answer func(asked) said) func(asked) said {
	return func(a asked) said {
		if len(a.Tools) > 0 && len(a.toolResults()) == 0 {
			return call("query_logs", `{"query":"checkout failed"}`)
		}
		return answer(a)
	}
}

// logFolder is a folder with a log that holds the planted fault.
func logFolder(t *testing.T, lines ...string) string {
	t.Helper()
	folder := t.TempDir()
	text := strings.Join(append([]string{"2026-11-30T16:59:58Z INFO checkout started", faultLine}, lines...), "\n") + "\n"
	if err := os.WriteFile(filepath.Join(folder, "shop.log"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// harnessing is the configuration of a service that diagnoses a log folder, with more keys of harness.chat.
func harnessing(t *testing.T, more string) string {
	t.Helper()
	return fmt.Sprintf("harness: {chat: {evidence: {logs: {roots: [%q]}}%s}}\n", logFolder(t), more)
}

// stored returns a run as the service keeps it, once it is over.
func (s *service) stored(id string) map[string]any {
	s.t.Helper()
	var snapshot map[string]any
	s.await(30*time.Second, func() (bool, string) {
		_, raw := s.request("GET", "/v1/runs/"+id, nil)
		snapshot = s.object(raw)
		over := slices.Contains([]any{"completed", "failed", "cancelled"}, snapshot["status"])
		return over, fmt.Sprintf("run %s is not over: %s", id, raw)
	})
	return snapshot
}

// count is how many runs the service has stored.
func (s *service) count() int { return len(s.runIDs()) }
