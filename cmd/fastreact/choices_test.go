package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk/client"
)

const unknownOutcome = `{"approval":{"request_id":"a-1","status":"pending","tool_name":"send_mail","tool_args":{"to":"ann"},` +
	`"reason":"Nobody knows.","kind":"outcome_unknown","choices":["retry","treat_as_done","abort"],"choice":null}}`

func TestAnUnknownOutcomeIsShownInWords(t *testing.T) {
	got := fastreact(t, nil, "approvals", "show", "a-1", "--url", serving(t, unknownOutcome))
	want := "approval   a-1\n" +
		"status     pending\n" +
		"question   this call left, and nobody knows whether it took effect: what now?\n" +
		"choices    retry: run it again, as far as policy allows today; treat_as_done: it took effect, go on; abort: end the run\n" +
		"tool       send_mail\n" +
		"arguments  {\"to\":\"ann\"}\n" +
		"reason     Nobody knows.\n"
	if diff := cmp.Diff(want, got.out); diff != "" {
		t.Error(diff)
	}
}

func TestAPermissionIsShownInWords(t *testing.T) {
	got := fastreact(t, nil, "approvals", "show", "a", "--url", serving(t, `{"approval":{"request_id":"a","kind":"permission"}}`))
	if want := "approval  a\nquestion  may this call run?\n"; got.out != want {
		t.Errorf("%q, want %q", got.out, want)
	}
}

func TestASettledChoiceIsShownInWords(t *testing.T) {
	settled := `{"approval":{"request_id":"a","status":"denied","kind":"outcome_unknown","choices":["abort"],"choice":"abort"}}`
	got := fastreact(t, nil, "approvals", "show", "a", "--url", serving(t, settled))
	if !strings.Contains(got.out, "choice    abort: end the run\n") || strings.Contains(got.out, "choices") {
		t.Error(got.out)
	}
}

// settling answers approvals and remembers what was asked.
func settling(t *testing.T, asked *[]string) string {
	t.Helper()
	keys := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		key := r.Header.Get("Idempotency-Key")
		if len(key) < 16 || keys[key] {
			t.Errorf("%s came under the key %q", r.URL.Path, key)
		}
		keys[key] = true
		*asked = append(*asked, r.URL.Path+" "+string(body))
		io.WriteString(w, unknownOutcome)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestEveryAnswerAndCancelHasAKeyOfItsOwn(t *testing.T) {
	var asked []string
	url := settling(t, &asked)
	for _, args := range []string{
		"approvals approve a-1 --choice retry", "approvals approve a-1 --choice treat_as_done --reason seen",
		"approvals deny a-1 --choice abort", "approvals deny a-1", "approvals approve a-1", "runs cancel r",
	} {
		if got := fastreact(t, nil, append(strings.Fields(args), "--url", url)...); got.code != exitOK {
			t.Errorf("%s: %+v", args, got)
		}
	}
	want := []string{
		`/v1/approvals/a-1/approve {"choice":"retry"}`, `/v1/approvals/a-1/approve {"choice":"treat_as_done","reason":"seen"}`,
		`/v1/approvals/a-1/deny {"choice":"abort"}`, `/v1/approvals/a-1/deny {}`, `/v1/approvals/a-1/approve {}`,
		`/v1/runs/r/cancel {}`,
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}

func TestAChoiceThatIsNoneIsWrongUsage(t *testing.T) {
	for _, args := range []string{"approvals approve a --choice maybe", "approvals deny a --choice retry"} {
		got := fastreact(t, nil, append(strings.Fields(args), "--url", "http://127.0.0.1:1")...)
		if got.code != exitUsage || !strings.Contains(got.errs, "--choice must be ") {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

// refusing answers every request with an error.
func refusing(t *testing.T, status int, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestAMissingChoiceIsExplained(t *testing.T) {
	url := refusing(t, http.StatusUnprocessableEntity, `{"error":{"code":"choice_required","message":"Choose."}}`)
	got := fastreact(t, nil, "approvals", "approve", "a", "--url", url)
	if got.code != exitFailed || !strings.Contains(got.errs, "--choice retry, treat_as_done or abort") {
		t.Errorf("%+v", got)
	}
}

func TestEventsThatAreNotKeptAreExplained(t *testing.T) {
	url := refusing(t, http.StatusGone,
		`{"error":{"code":"events_compacted","message":"Gone.","first_available_sequence":7}}`)
	got := fastreact(t, nil, "runs", "tail", "r", "--url", url)
	if got.code != exitFailed || !strings.Contains(got.errs, "Read the rest with --after 6.") {
		t.Errorf("%+v", got)
	}
}

func TestTheThreeChoicesAreOfferedWhereARunAsks(t *testing.T) {
	want := "  ? send_mail {\"to\":\"ann\"} needs a person: Nobody knows.\n" +
		"    answer with one of:\n" +
		"      fastreact approvals approve a-1 --choice retry          run it again, as far as policy allows today\n" +
		"      fastreact approvals approve a-1 --choice treat_as_done  it took effect, go on\n" +
		"      fastreact approvals approve a-1 --choice abort          end the run\n"
	var out bytes.Buffer
	show := display{out: &out}
	show.event(client.Event{
		Type: "ask_user", ToolName: "send_mail", ToolArgs: json.RawMessage(`{"to":"ann"}`), Content: "Nobody knows.",
		ApprovalRequestID: "a-1",
		Metadata:          json.RawMessage(`{"kind":"outcome_unknown","choices":["retry","treat_as_done","abort"]}`),
	})
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestAWatchOffersTheThreeChoices(t *testing.T) {
	var out bytes.Buffer
	w := watching{remote: &remote{}, out: &out}
	w.say("pending", client.Approval{
		ID: "a-1", ToolName: "send_mail", Reason: "Nobody knows.", Kind: client.UnknownOutcome,
		Choices: []string{client.Retry, client.TreatAsDone, client.Abort},
	})
	for _, want := range []string{
		"? a-1 asks what became of a call of send_mail: Nobody knows.\n", "\n  answer with one of:\n",
		"\n    fastreact approvals approve a-1 --choice treat_as_done  it took effect, go on\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q lacks %q", out.String(), want)
		}
	}
	out.Reset()
	w.say("settled", client.Approval{ID: "a-1", ToolName: "t", Status: "denied", Choice: client.Abort, ResolvedBy: "ann"})
	if diff := cmp.Diff("= a-1: t is denied (abort: end the run) by ann\n\n", out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestARunShowsWhoDrivesIt(t *testing.T) {
	url := serving(t, `{"run_id":"r","status":"running","event_count":9,"attempts":2,"worker_id":"node-a/01X","min_sequence":4,`+
		`"lease_expires_at":"2026-06-11T00:00:10.000000+00:00","retry_after":"2026-06-11T00:00:12.000000+00:00",`+
		`"last_error":"The worker ended.","error":null,"phase":null}`)
	want := "run            r\nstatus         running\nevents         9, kept from 4 on\nattempts       2\n" +
		"worker         node-a/01X\nlease until    2026-06-11T00:00:10Z\nretried after  2026-06-11T00:00:12Z\n" +
		"last error     The worker ended.\n"
	if got := fastreact(t, nil, "runs", "show", "r", "--url", url); got.out != want {
		t.Error(cmp.Diff(want, got.out))
	}
}
