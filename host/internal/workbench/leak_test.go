package workbench

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/wasm"
)

// subjectOf is a plugin with two cases.
func subjectOf(t *testing.T, module []byte) *Subject {
	t.Helper()
	dir := folder(t, module, map[string]string{
		"one": "-- input --\n{\"tool\":\"exec\",\"args\":{\"path\":\"a\"}}\n-- want --\n{\"action\":\"allow\"}\n",
		"two": "-- input --\n{\"tool\":\"other\"}\n-- want --\n{\"action\":\"allow\"}\n",
	})
	subject, err := Open(dir, noWords())
	if err != nil {
		t.Fatal(err)
	}
	return subject
}

func TestPluginThatRemembersNothingLeaksNothing(t *testing.T) {
	report, err := Leak(t.Context(), subjectOf(t, answering(t, policy, allows)), LeakOptions{Steps: 300, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK || report.Steps != 300 || report.Compared+report.Disturbed != 300 || report.Mode != "snapshot" {
		t.Errorf("%+v", report)
	}
}

func TestSameSeedMakesTheSameCalls(t *testing.T) {
	subject := subjectOf(t, answering(t, policy, allows))
	first, err := Leak(t.Context(), subject, LeakOptions{Steps: 50, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Leak(t.Context(), subject, LeakOptions{Steps: 50, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}

func TestAnswerThatTellsOfTheOtherTenantIsFound(t *testing.T) {
	l := &leakTrial{report: &LeakReport{}}
	q := &leakQuestion{asked: &Case{Name: "one"}, tenant: "a", foreign: "canary-b"}
	l.searchFor(q, reply{answer: []byte(`{"reason":"was canary-b"}`)})
	l.searchFor(q, reply{answer: []byte(`{"reason":"nothing"}`)})
	if len(l.report.Findings) != 1 || !strings.Contains(l.report.Findings[0].Why, "other tenant") {
		t.Errorf("%+v", l.report.Findings)
	}
}

func TestAnswerThatDiffersFromAFreshInstanceIsFound(t *testing.T) {
	subject := subjectOf(t, answering(t, policy, allows))
	l, err := newLeakTrial(subject, 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = l.shared.close(t.Context()), l.fresh.close(t.Context()) })
	l.report = &LeakReport{}
	for _, q := range l.questions {
		q.known, q.steady, q.want = true, true, reply{answer: []byte(`{"action":"deny"}`)}
	}
	for range 20 {
		if err := l.step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.report.Findings) == 0 || l.report.Findings[0].Want != `{"action":"deny"}` || l.report.Findings[0].Got != allows {
		t.Errorf("%+v", l.report.Findings)
	}
}

func TestCanaryStandsInTheIdentityAndInOneText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	input := `{"tool":"exec","identity":{"user_key":"pska:author","tenant_key":"pska","roles":[]},"args":{"a":["x"],"b":{"c":"y"}}}`
	marked := string(withCanary([]byte(input), "CANARY", random))
	if n := strings.Count(marked, "CANARY"); n != 4 {
		t.Errorf("it stands there %d times: %s", n, marked)
	}
	if strings.Contains(marked, "pska") {
		t.Errorf("the author's name is left: %s", marked)
	}
	if got := string(withCanary([]byte(`[1]`), "CANARY", random)); got != `[1]` {
		t.Error(got)
	}
}

func TestHostileCallsEndAndTheNextGoodCallIsAnswered(t *testing.T) {
	report, err := Hostile(t.Context(), subjectOf(t, answering(t, policy, allows)))
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range report.Trials {
		if !trial.OK {
			t.Errorf("%+v", trial)
		}
	}
	if !report.OK || len(report.Trials) < 20 {
		t.Errorf("%d trials, ok %v", len(report.Trials), report.OK)
	}
}

func TestTrialThatEndsLateOrWithoutACodeFails(t *testing.T) {
	var late, nameless Trial
	late.read(reply{took: 5 * grace}, grace)
	nameless.read(reply{err: os.ErrClosed}, grace)
	if late.OK || nameless.OK || !strings.Contains(nameless.Why, "stable code") {
		t.Errorf("%+v %+v", late, nameless)
	}
}

func TestGoodCallThatChangedFailsTheTrial(t *testing.T) {
	subject := subjectOf(t, answering(t, policy, allows))
	s, err := newStand(subject, wasm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.close(t.Context()) })
	h := &hostility{stand: s, good: subject.Cases[0], before: reply{answer: []byte(`{"action":"deny"}`)}}
	trial := Trial{OK: true}
	h.afterwards(t.Context(), &trial)
	if trial.OK || !strings.Contains(trial.Why, "otherwise") {
		t.Errorf("%+v", trial)
	}
}

func TestBenchComparesWithItsBudget(t *testing.T) {
	subject := subjectOf(t, answering(t, policy, allows))
	for budget, ok := range map[int64]bool{0: true, 1 << 40: true} {
		report, err := Bench(t.Context(), subject, BenchOptions{Count: 3, BudgetGas: budget})
		if err != nil {
			t.Fatal(err)
		}
		if report.OK != ok || len(report.Cases) != 2 || report.Cold.ImageBytes == 0 || report.Cases[0].Fresh == 0 {
			t.Errorf("budget %d: %+v", budget, report)
		}
	}
	report, err := Bench(t.Context(), subject, BenchOptions{Count: 3, BudgetTime: 1})
	if err != nil {
		t.Fatal(err)
	}
	if report.OK || len(report.Cases[0].Over) == 0 {
		t.Errorf("%+v", report)
	}
}

func TestManifestSaysTheBudgetWhenNobodyElseDoes(t *testing.T) {
	subject := &Subject{}
	subject.Inspection.Limits.Gas = 77
	if o := (BenchOptions{}).within(subject); o.BudgetGas != 77 || o.Count == 0 {
		t.Errorf("%+v", o)
	}
	if o := (BenchOptions{BudgetGas: 5}).within(subject); o.BudgetGas != 5 {
		t.Errorf("%+v", o)
	}
}

func TestCasesLieBesideTheModulesFile(t *testing.T) {
	dir := folder(t, answering(t, policy, allows), map[string]string{"a": "-- input --\n{}\n-- want --\n{}\n"})
	subject, err := Open(filepath.Join(dir, moduleFile), noWords())
	if err != nil || len(subject.Cases) != 1 {
		t.Error(subject, err)
	}
}
