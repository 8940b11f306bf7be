package research_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/research"
)

func encoded(t *testing.T, s research.Snapshot) string {
	t.Helper()
	raw, err := research.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestAWorkspaceWithoutAPlanIsEmpty(t *testing.T) {
	desk := newWorld(t).desk()
	got := encoded(t, must(t)(desk.Snapshot(t.Context(), space)))
	want := `{"contract":"labfy.research.snapshot.v1","state":"EMPTY","plan_id":null,"plan_fingerprint":null,` +
		`"input_revision":null,"created_at":null,"question":null,"actions":[],"grants":[],"campaigns":[]}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestTheDocumentSaysEverythingInOnePlace(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 999, time.FixedZone("CET", 3600))
	snapshot := research.Snapshot{
		State: research.Prepared, PlanID: "p", Fingerprint: "sha256:f", InputRevision: 0, CreatedAt: at, Question: "<who> & why",
		Actions: []research.Action{{
			ActionID: "a", CapabilityID: "c", ProviderID: "archive", Subject: "evidence:1", Contact: research.ContactPassive,
			Disclosure: research.DiscloseQuestions, MaxRequests: 1, MaxResponseBytes: 4096, MaxActive: 5 * time.Second,
			Contacted: true, ResultStatus: research.ResultNew, ResultExcerpt: "", ResultDigest: "sha256:d",
			Decision: research.Authorize, Wave: 1,
		}},
		Grants:    []research.Grant{{GrantID: "g", ActionIDs: []string{"a"}, CreatedAt: at, ExpiresAt: at.Add(time.Hour), RevokedAt: &at}},
		Campaigns: []research.Campaign{{CampaignID: "k", GrantID: "g", ActionIDs: []string{"a"}, AdmittedAt: at}},
	}
	want := `{"contract":"labfy.research.snapshot.v1","state":"PREPARED","plan_id":"p","plan_fingerprint":"sha256:f",` +
		`"input_revision":0,"created_at":"2026-03-01T08:00:00Z","question":"<who> & why","actions":[{"action_id":"a",` +
		`"capability_id":"c","provider_id":"archive","subject":"evidence:1","contact":"PASSIVE_PUBLIC",` +
		`"disclosure":"QUESTION_AND_SUBJECT","max_requests":1,"max_response_bytes":4096,"max_active_ms":5000,` +
		`"contacted":true,"result_status":"NEW","result_excerpt":"","result_digest":"sha256:d","decision":"AUTHORIZE","wave":1}],` +
		`"grants":[{"grant_id":"g","action_ids":["a"],"created_at":"2026-03-01T08:00:00Z","expires_at":"2026-03-01T09:00:00Z",` +
		`"revoked_at":"2026-03-01T08:00:00Z"}],"campaigns":[{"campaign_id":"k","grant_id":"g","action_ids":["a"],` +
		`"admitted_at":"2026-03-01T08:00:00Z","ended_at":null}]}`
	if diff := cmp.Diff(want, encoded(t, snapshot)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}
