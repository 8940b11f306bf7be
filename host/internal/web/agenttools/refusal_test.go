package agenttools

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/host/internal/gateway"
	"github.com/fastreact/fastreact/host/internal/localagent"
	"github.com/fastreact/fastreact/host/internal/research"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

func (a answer) statusText() string { return strconv.Itoa(a.status) }

func TestEveryCodeOfTheEngineHasItsStatus(t *testing.T) {
	b := opened(t)
	contract := map[run.Code]int{
		"agent_tool_invalid": 400, "agent_tool_idempotency_conflict": 409, "agent_tool_capacity_exhausted": 429,
		"agent_tool_result_too_large": 413, "agent_tool_result_unknown": 404, "agent_turn_unknown": 404,
		"agent_turn_not_waiting": 409, "agent_turn_not_granted": 409, "workspace_none": 409, "workspace_unknown": 404,
		"agent_tool_closed": 503, "research_invalid": 400, "research_refused": 409, "research_limit": 409,
		"research_idempotency_conflict": 409, "research_unavailable": 503, "agent_runtime_invalid": 400,
		"agent_runtime_unknown": 404, "agent_runtime_not_waiting": 409, "agent_runtime_not_granted": 409,
		"agent_runtime_queue_full": 429, "agent_runtime_capacity_exhausted": 429, "agent_runtime_closed": 503,
		"agent_runtime_idempotency_conflict": 409,
	}
	for _, code := range slices.Concat(gateway.Codes(), research.Codes(), localagent.Codes()) {
		if _, known := contract[code]; !known {
			t.Errorf("the contract's table has no %s", code)
		}
	}
	for code, status := range contract {
		for sentence, want := range map[string]string{"": b.face.meanings[code].sentence, "In its own words.": "In its own words."} {
			b.engine.fails = fmt.Errorf("call: %w", &run.Error{
				Code: code, Sentence: sentence, Op: "open /srv/graph.json", Cause: errors.New("disk I/O error"),
			})
			got := b.post(callsPath, bodyFor(callsPath))
			if got.status != status || got.code(t) != string(code) || !strings.Contains(got.body, `"message":"`+want+`"`) {
				t.Errorf("%s: %d %s", code, got.status, got.body)
			}
			if retry := got.header.Get("Retry-After"); (retry != "") != (status == 429 || status == 503) {
				t.Errorf("%s: Retry-After %q", code, retry)
			}
		}
	}
}

func TestOtherFailuresSayNothing(t *testing.T) {
	b := opened(t)
	failures := []error{errors.New("SELECT * FROM runs: /srv/fastreact.db is locked")}
	for _, code := range append(run.Codes(), "made_up") {
		failures = append(failures, &run.Error{Code: code, Op: "read /srv/fastreact.db"})
	}
	for _, failure := range failures {
		b.engine.fails = failure
		got := b.post(callsPath, bodyFor(callsPath))
		want := "500 internal_error"
		switch {
		case run.IsCode(failure, run.CodeStore):
			want = "503 store_unavailable"
		case run.IsCode(failure, run.CodeInvalid):
			want = "400 invalid_request"
		}
		if shown := got.statusText() + " " + got.code(t); shown != want || strings.Contains(got.body, "srv") {
			t.Errorf("%v: %s %s", failure, shown, got.body)
		}
	}
}

func TestEveryOwnCodeHasASentence(t *testing.T) {
	for code, means := range meanings() {
		if http.StatusText(means.status) == "" || means.status < 400 || !strings.HasSuffix(means.sentence, ".") {
			t.Errorf("%s: %d %q", code, means.status, means.sentence)
		}
	}
}

func TestAPanicIsContainedAndToldToTheLogAlone(t *testing.T) {
	var log strings.Builder
	b := opened(t, func(cfg *Config) { cfg.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	b.engine.panics = true
	got := b.post(callsPath, bodyFor(callsPath))
	if got.status != 500 || got.code(t) != "internal_error" || strings.Contains(got.body, "secret") {
		t.Errorf("%d %s", got.status, got.body)
	}
	guarded(t, "a panic", got)
	b.engine.panics = false
	if got := b.get("/api/v1/session"); got.status != 200 {
		t.Errorf("afterwards: %d", got.status)
	}
	if !strings.Contains(log.String(), "secret.txt") {
		t.Error("the log does not say what happened")
	}
}

func TestNoAnswerHoldsASecret(t *testing.T) {
	const canary = "canary-6b1f9e"
	b := opened(t, func(cfg *Config) { cfg.Mask = web.NewMask([]string{canary}) })
	got := b.get("/api/v1/agent-tools/results/" + canary)
	if got.status != 200 || strings.Contains(got.body, canary) || !strings.Contains(got.body, web.Redacted) {
		t.Errorf("a result: %s", got.body)
	}
	b.engine.fails = &run.Error{Code: gateway.CodeInvalid, Sentence: "Not " + canary + "."}
	if got := b.post(callsPath, bodyFor(callsPath)); strings.Contains(got.body, canary) || got.status != 400 {
		t.Errorf("a refusal: %s", got.body)
	}
}
