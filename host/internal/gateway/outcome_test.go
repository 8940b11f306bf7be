package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// wantEnd makes one call and compares how it ended.
func wantEnd(t *testing.T, g *Gateway, r Request, state State, diagnostic string) {
	t.Helper()
	reply := mustCall(t, g, r)
	result := mustResult(t, g, reply.ResultID)
	if reply.State != state || result.State != state || result.Diagnostic != diagnostic {
		t.Errorf("%s, result %s %q\nwant %s %q", reply.State, result.State, result.Diagnostic, state, diagnostic)
	}
	if state != Completed && string(result.Output) != `{}` {
		t.Errorf("output of a call that did not complete: %s", result.Output)
	}
}

func mustNotRun(t *testing.T, w *world) {
	t.Helper()
	if sent := w.source.calls(); len(sent) > 0 {
		t.Errorf("the tool ran: %+v", sent)
	}
}

func TestARuleThatDeniesIsDenied(t *testing.T) {
	for _, name := range []string{"investigation_search", "investigation.search"} {
		w := newWorld(t)
		w.rules[name] = "deny"
		wantEnd(t, w.open(), search(), Denied, "Policy denies this call; it did not run.")
		mustNotRun(t, w)
	}
}

func TestARuleThatAsksForApprovalEndsInAuthorizationRequired(t *testing.T) {
	w := newWorld(t)
	w.rules["investigation_search"] = "require_approval"
	wantEnd(t, w.open(), search(), AuthorizationRequired, "A person has to approve this call; it did not run.")
	mustNotRun(t, w)
	if n := len(w.books.records); n != 1 || w.books.records[0].Dispatched {
		t.Errorf("records = %+v", w.books.records)
	}
}

func TestAPreparationThatPolicyHoldsBackPreparesNothing(t *testing.T) {
	w := newWorld(t)
	w.rules["research_prepare"] = "require_approval"
	g := w.open()
	reply := mustCall(t, g, request("research.prepare", `{"selection_ids":["`+node+`"],"question":"q","exclusions":[]}`))
	if result := mustResult(t, g, reply.ResultID); result.PlanID != "" || result.State != AuthorizationRequired {
		t.Errorf("result = %+v", result)
	}
	mustNotRun(t, w)
}

func TestADecisionThatCannotBeRecordedIsDenied(t *testing.T) {
	w := newWorld(t)
	w.books.err = errors.New("disk full at /var/lib/fastreact.db")
	wantEnd(t, w.open(), search(), Denied, "The decision could not be recorded; the call did not run.")
	mustNotRun(t, w)
}

func TestAToolThatIsNotLoadedIsUnavailable(t *testing.T) {
	w := newWorld(t)
	w.source.missing = "investigation.search"
	wantEnd(t, w.open(), search(), Unavailable, "The tool is not loaded.")
	mustNotRun(t, w)
}

func TestPreparedResearchAsksForAuthorization(t *testing.T) {
	g := newWorld(t).open()
	reply := mustCall(t, g, request("research.prepare", `{"selection_ids":["`+node+`"],"question":"q","exclusions":[]}`))
	result := mustResult(t, g, reply.ResultID)
	if reply.State != AuthorizationRequired || result.PlanID != planID || result.Diagnostic != "" || string(result.Output) == `{}` {
		t.Errorf("reply %+v, result %+v", reply, result)
	}
}

func TestAToolsFailureIsToldInAFixedSentence(t *testing.T) {
	for said, want := range map[string]diagnosis{
		`{"error":"object_unknown"}`:                           {Failed, "This workspace has no object of this id."},
		`{"error":"job_unknown"}`:                              {Failed, "This workspace has no job of this id."},
		`{"error":"snapshot_missing"}`:                         {Unavailable, "The workspace has no snapshot."},
		`{"error":"snapshot_invalid"}`:                         {Unavailable, "The workspace's snapshot cannot be read."},
		`{"error":"snapshot_too_large"}`:                       {Unavailable, "The workspace's snapshot is larger than this service reads."},
		`{"error":"research_refused"}`:                         {Failed, "The research desk refused this request."},
		`{"error":"SELECT * FROM runs WHERE secret='canary'"}`: {Failed, "The tool failed."},
		`{"error":{"path":"/home/ada/canary"}}`:                {Failed, "The tool failed."},
		`open /home/ada/canary: permission denied`:             {Failed, "The tool failed."},
		`<script>alert("canary")</script>`:                     {Failed, "The tool failed."},
		"":                                                     {Failed, "The tool failed."},
	} {
		w := newWorld(t)
		w.source.invoke = func(context.Context, sdk.Call) (sdk.Result, error) {
			return sdk.Result{Content: said, IsError: true}, nil
		}
		wantEnd(t, w.open(), search(), want.state, want.sentence)
	}
}

func TestAnErrorOfASourceIsNobodysBusiness(t *testing.T) {
	w := newWorld(t)
	w.source.invoke = func(context.Context, sdk.Call) (sdk.Result, error) {
		return sdk.Result{}, errors.New("exec /usr/bin/canary --token=s3cret: exit status 2")
	}
	wantEnd(t, w.open(), search(), Failed, "The tool failed.")
}

func TestAnAnswerThatIsNoObjectIsAFailure(t *testing.T) {
	for _, said := range []string{``, `[]`, `null`, `"text"`, `{"a":1} {"b":2}`, `{`, `plain words`, `{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`} {
		w := newWorld(t)
		w.source.say("investigation.search", said)
		wantEnd(t, w.open(), search(), Failed, "The tool gave an answer that cannot be read.")
	}
}

func TestAPreparationWithoutAPlanIsAFailure(t *testing.T) {
	w := newWorld(t)
	w.source.say("research.prepare", `{"state":"EMPTY","plan_id":null}`)
	r := request("research.prepare", `{"selection_ids":["`+node+`"],"question":"q","exclusions":[]}`)
	wantEnd(t, w.open(), r, Failed, "The tool gave an answer that cannot be read.")
}

// swooning is a gate that panics.
type swooning struct{ Gate }

func (swooning) Check(context.Context, run.Call) gate.Verdict { panic("canary") }

func TestAPanicBehindTheGateIsAFailedCall(t *testing.T) {
	w := newWorld(t)
	g := w.open()
	g.cfg.Gate = swooning{g.cfg.Gate}
	wantEnd(t, g, search(), Failed, "The tool failed.")
}

// scripted is a gate whose outcome a test chooses.
type scripted struct {
	Gate
	outcome run.CallOutcome
}

func (s scripted) Do(context.Context, gate.Verdict, *run.Approval) run.CallOutcome { return s.outcome }

func TestEveryDenialHasAStateAndASentenceOfItsOwnMaking(t *testing.T) {
	want := map[run.DenialCode]State{
		run.DeniedUnknownTool: Unavailable, run.DeniedInvalidArgs: Failed, run.DeniedApproval: AuthorizationRequired,
		run.DeniedCancelled: Failed,
	}
	for _, code := range []run.DenialCode{
		run.DeniedNoTools, run.DeniedNotAllowed, run.DeniedHidden, run.DeniedBudget, run.DeniedUnattended,
		run.DeniedUnknownTool, run.DeniedByPolicy, run.DeniedTampered, run.DeniedScope, run.DeniedAudit,
		run.DeniedApproval, run.DeniedExpired, run.DeniedStale, run.DeniedCancelled, run.DeniedInvalidArgs,
		run.PluginTrapped, run.PluginTimedOut, run.PluginUnavailable, "a code of tomorrow",
	} {
		w := newWorld(t)
		g := w.open()
		g.cfg.Gate = scripted{g.cfg.Gate, run.CallOutcome{Denied: code, IsError: true, Content: "canary"}}
		reply := mustCall(t, g, search())
		result := mustResult(t, g, reply.ResultID)
		state, listed := want[code]
		if !listed {
			state = Denied
		}
		if reply.State != state || result.Diagnostic == "" || strings.Contains(string(result.Encoded), "canary") {
			t.Errorf("%s: %s", code, result.Encoded)
		}
	}
}

func TestEveryDiagnosticIsAShortSentence(t *testing.T) {
	check := func(name string, d diagnosis) {
		if len(d.sentence) > 512 || !strings.HasSuffix(d.sentence, ".") || d.state == "" || d.state == Completed {
			t.Errorf("%s: %+v", name, d)
		}
	}
	for t, d := range diagnoses() {
		check(string(t), d)
	}
	for code, d := range denials() {
		check(string(code), d)
	}
}

func TestTheBooksHoldIDsAndDigestsOfACallAndNothingElse(t *testing.T) {
	w := newWorld(t)
	g := w.open()
	reply := mustCall(t, g, request("investigation.search", `{"query":"canary of the harbour"}`))
	raw, err := json.Marshal(w.books.records)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.books.records) != 2 || w.books.records[0].CallID != reply.CallID || w.books.records[0].Run.ID != someTurn {
		t.Errorf("records = %s", raw)
	}
	if strings.Contains(string(raw), "canary") || strings.Contains(string(raw), "Log") {
		t.Errorf("the books hold what was asked or answered: %s", raw)
	}
}
