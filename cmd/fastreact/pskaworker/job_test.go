package pskaworker

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAnEntryIsReadHoweverItIsWritten(t *testing.T) {
	for text, want := range map[string]Job{
		`{"id":"j","job_type":"digest_via_fastreact","status":"queued","priority":5,"user_id":"ada","tenant_id":"home"}`: {
			ID: "j", Type: digestType, Status: "queued", Priority: 5, User: "ada", Tenant: "home", Batch: "j", Scope: map[string]any{},
		},
		`{"job_id":7,"type":"digest_via_fastreact","state":"QUEUED","priority":"high","payload":{"user_id":"ada","batch_id":"b","cursor":"c","knowledge_base_ids":["kb"]}}`: {
			ID: "7", Type: digestType, Status: "queued", Priority: 10, User: "ada", Batch: "b", Cursor: "c",
			Scope: map[string]any{"knowledge_base_ids": []any{"kb"}},
		},
		`{"job":{"id":"j","status":"running","worker_id":"me","lease_expires_at":"2026-01-02T03:04:05Z","tool_budget":{"x":2}}}`: {
			ID: "j", Status: "running", Owner: "me", LeaseEnds: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Batch: "j",
			Scope: map[string]any{}, Budget: map[string]any{"x": json.Number("2")},
		},
	} {
		got, ok := readJob(json.RawMessage(text))
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestOnlyDueDigestJobsAreTakenTheMostUrgentFirst(t *testing.T) {
	jobs := readJobs(json.RawMessage(`{"jobs":[
		{"id":"low","job_type":"digest_via_fastreact","status":"queued","priority":1},
		{"id":"later","job_type":"digest_via_fastreact","status":"queued","run_after":"2030-01-01T00:00:00Z"},
		{"id":"held","job_type":"digest_via_fastreact","status":"running","lease_expires_at":"2030-01-01T00:00:00Z"},
		{"id":"left","job_type":"digest_via_fastreact","status":"running","lease_expires_at":"2020-01-01T00:00:00"},
		{"id":"done","job_type":"digest_via_fastreact","status":"succeeded"},
		{"id":"other","job_type":"index","status":"queued"},
		{"id":"high","job_type":"digest_via_fastreact","status":"queued","priority":9},
		{"id":"low","job_type":"digest_via_fastreact","status":"queued","priority":1},
		"no job", {"status":"queued"}]}`))
	var got []string
	for _, job := range due(jobs, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
		got = append(got, job.ID)
	}
	if diff := cmp.Diff([]string{"high", "low", "left"}, got); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

func TestTheIDOfARunFollowsFromItsJobAlone(t *testing.T) {
	job := Job{ID: "j/1 ü", Tenant: "pska", Status: "queued", Owner: "a", Priority: 3}
	again := Job{ID: "j/1 ü", Tenant: "pska", Status: "running", Owner: "b"}
	if job.RunID(1) != again.RunID(1) {
		t.Errorf("%s and %s", job.RunID(1), again.RunID(1))
	}
	if !regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`).MatchString(job.RunID(100)) {
		t.Error(job.RunID(100))
	}
	for _, other := range []Job{{ID: "j/1 u", Tenant: "pska"}, {ID: "j/1 ü", Tenant: "other"}, {ID: "j/1 ü", Tenant: "pska", Generation: "2"}} {
		if other.RunID(1) == job.RunID(1) {
			t.Errorf("%+v has the same run", other)
		}
	}
}

func FuzzAnyAnswerIsRead(f *testing.F) {
	f.Add([]byte(`{"jobs":[{"id":1}],"batch":null,"items":null}`))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		due(readJobs(raw), time.Now())
		_, _ = readPage(raw)
		granted(raw)
	})
}
