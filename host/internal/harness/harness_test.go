package harness

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/executor"
	"github.com/fastreact/fastreact/host/internal/release"
)

func small() Config {
	return Config{
		Worker: Pool{1, 2}, Model: Pool{3, 4}, Tool: Pool{5, 6}, ModelTimeout: time.Second, ToolTimeout: 2 * time.Second,
		MaxSteps: 7, MaxToolCalls: 8, MaxRepairs: 1, MaxContentBytes: 1000,
		Canonical: release.Canonical{TTL: time.Minute, MaxItems: 10, MaxBytes: 1000},
		Guards:    func() ([]release.Guard, func()) { return nil, func() {} },
	}
}

func built(t *testing.T, cfg Config) *Harness {
	t.Helper()
	h, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) }) // closed again after some tests
	return h
}

func TestExactlyOneGraphIsSharedByEveryProfile(t *testing.T) {
	h := built(t, small())
	profiles := h.Profiles()
	if len(profiles) != 3 {
		t.Fatalf("%d profiles", len(profiles))
	}
	for name, profile := range profiles {
		if profile.Name != name || profile.Models != h.model || profile.ToolSlots != h.tool {
			t.Errorf("profile %s is called %s or has executors of its own", name, profile.Name)
		}
		if profile.MaxIterations != 7 || profile.MaxToolCalls != 8 ||
			profile.ModelTimeout != time.Second || profile.ToolTimeout != 2*time.Second {
			t.Errorf("profile %s has limits of its own: %+v", name, profile)
		}
	}
}

func TestOnlyADiagnosisHasToolsAndEveryAnswerHasAnExit(t *testing.T) {
	profiles := built(t, small()).Profiles()
	if diff := cmp.Diff([]string{"query_metrics", "query_logs", "query_mysql"}, profiles[Diagnosis].Tools); diff != "" {
		t.Errorf("tools of a diagnosis (-want +got):\n%s", diff)
	}
	if len(profiles[Chat].Tools) != 0 || len(profiles[General].Tools) != 0 {
		t.Error("others have tools")
	}
	if profiles[Chat].Router == nil || profiles[Diagnosis].Router != nil || profiles[General].Router != nil {
		t.Error("chat alone is routed")
	}
	for _, name := range []string{Diagnosis, General} {
		if exit := profiles[name].Exit; exit == nil || exit.Repairs() != 1 || exit.Fallback() == "" {
			t.Errorf("%s has no exit of this configuration", name)
		}
	}
}

func TestTheExecutorsHaveTheirSizes(t *testing.T) {
	want := []executor.Stats{
		{Name: "worker", Size: 1, Queue: 2}, {Name: "model", Size: 3, Queue: 4}, {Name: "tool", Size: 5, Queue: 6},
	}
	if diff := cmp.Diff(want, built(t, small()).Executors()); diff != "" {
		t.Errorf("executors (-want +got):\n%s", diff)
	}
}

func TestAPoolWithoutWorkersIsRefusedAndLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a goroutine that is left would fail it
		for _, spoil := range []func(*Config){
			func(c *Config) { c.Worker.Size = 0 }, func(c *Config) { c.Model.Size = -1 }, func(c *Config) { c.Tool.Queue = -1 },
		} {
			cfg := small()
			spoil(&cfg)
			if _, err := New(cfg); err == nil {
				t.Errorf("%+v was accepted", cfg)
			}
		}
	})
}

func TestCloseWaitsForWhatIsUnderWayAndTakesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t, small())
		done := false
		if err := h.Worker().Submit(func() {
			<-time.After(time.Minute) // of the bubble's own time: a stream that is being served
			done = true
		}); err != nil {
			t.Fatal(err)
		}
		if err := h.Close(t.Context()); err != nil || !done {
			t.Errorf("closed with %v; the stream was served: %t", err, done)
		}
		if err := h.Worker().Submit(func() {}); !errors.Is(err, executor.ErrSaturated) {
			t.Errorf("work after the end: %v", err)
		}
	})
}

func TestThePromptOfADiagnosisShowsTheReportAsItIsRead(t *testing.T) {
	told := prompts()
	for _, key := range []string{
		"summary", "findings", "statement", "severity", "evidence_ids", "likely_cause", "recommended_actions", "info", "warning", "critical",
	} {
		if !strings.Contains(told.diagnosis, `"`+key+`"`) {
			t.Errorf("the prompt does not show %q", key)
		}
	}
	if !regexp.MustCompile(`(?s)DIAGNOSIS.*GENERAL`).MatchString(told.router) || told.general == "" {
		t.Error("a prompt is missing")
	}
}
