package workbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fastreact/fastreact/host/internal/wasm"
)

// LeakOptions say how long to look for leaks. The same seed makes the same calls.
type LeakOptions struct {
	Steps int
	Seed  uint64
}

// LeakReport is what came of calls of two tenants that shared the plugin's instances.
type LeakReport struct {
	Plugin    string    `json:"plugin"`
	Digest    string    `json:"digest"`
	Mode      string    `json:"mode"`
	OK        bool      `json:"ok"`
	Seed      uint64    `json:"seed"`
	Steps     int       `json:"steps"`     // calls that were made
	Compared  int       `json:"compared"`  // of them, with the answer of a fresh instance
	Disturbed int       `json:"disturbed"` // of them, cut short or given what is no input
	Findings  []Finding `json:"findings"`  // the first ones
}

// Finding is one call that answered what it should not.
type Finding struct {
	Step   int    `json:"step"`
	Tenant string `json:"tenant"`
	Case   string `json:"case"`
	Why    string `json:"why"`
	Want   string `json:"want,omitempty"`
	Got    string `json:"got,omitempty"`
}

// mostFindings is how many findings are worth showing: the first ones.
const mostFindings = 5

// leakTrial is two tenants who take turns with one plugin.
type leakTrial struct {
	shared, fresh *stand
	questions     []*leakQuestion
	random        *rand.Rand
	report        *LeakReport
}

// Leak lets two tenants take turns, each with a canary in what it asks, and compares every answer with that of an
// instance that nobody used before. Calls between are cut short, or hold no input, at random.
func Leak(ctx context.Context, subject *Subject, o LeakOptions) (report LeakReport, err error) {
	if err := subject.needCases(); err != nil {
		return LeakReport{}, err
	}
	trial, err := newLeakTrial(subject, o.Seed)
	if err != nil {
		return LeakReport{}, err
	}
	defer func() { err = errors.Join(err, trial.shared.close(ctx), trial.fresh.close(ctx)) }()
	trial.report = &report
	report = LeakReport{
		Plugin: subject.Inspection.Name, Digest: subject.Inspection.Digest, Mode: string(modeOf(subject.Inspection.Kind)),
		Seed: o.Seed, Findings: []Finding{},
	}
	for report.Steps < o.Steps && len(report.Findings) < mostFindings {
		report.Steps++
		if err := trial.step(ctx); err != nil {
			return report, err
		}
		if err := ctx.Err(); err != nil {
			return report, context.Cause(ctx)
		}
	}
	report.OK = len(report.Findings) == 0
	return report, nil
}

func newLeakTrial(subject *Subject, seed uint64) (*leakTrial, error) {
	random := rand.New(rand.NewPCG(seed, seed))
	questions := leakQuestions(subject, random)
	shared, err := newStand(subject, wasm.Config{})
	if err != nil {
		return nil, err
	}
	fresh, err := newStand(subject, wasm.Config{})
	if err != nil {
		return nil, err
	}
	fresh.mode = wasm.ModeFresh
	return &leakTrial{shared: shared, fresh: fresh, questions: questions, random: random}, nil
}

// step makes one call.
func (l *leakTrial) step(ctx context.Context) error {
	q := l.questions[l.random.IntN(len(l.questions))]
	if l.random.IntN(5) == 0 {
		l.report.Disturbed++
		return l.disturb(ctx, q)
	}
	got, err := l.shared.run(ctx, q.asked)
	if err != nil {
		return err
	}
	l.searchFor(q, got)
	want, err := q.expected(ctx, l.fresh)
	if err != nil || !q.steady {
		return err
	}
	l.report.Compared++
	switch {
	case got.code() != want.code():
		l.find(q, "it ended otherwise than in a fresh instance", orAnswer(want.code()), orAnswer(got.code()))
	case got.err == nil && !bytes.Equal(got.answer, want.answer):
		l.find(q, "it answered otherwise than a fresh instance", string(want.answer), string(got.answer))
	}
	return nil
}

// disturb makes a call that ends early, or holds no input. What it answers is of no interest, unless it tells.
func (l *leakTrial) disturb(ctx context.Context, q *leakQuestion) error {
	spoilt := *q.asked
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	switch l.random.IntN(4) {
	case 0:
		cancel()
	case 1:
		timed, stop := context.WithTimeout(ctx, time.Duration(l.random.IntN(500))*time.Microsecond)
		defer stop()
		ctx = timed
	case 2:
		spoilt.Input = spoilt.Input[:l.random.IntN(len(spoilt.Input))]
	default:
		spoilt.Input = bytes.Repeat([]byte(`[{"`+q.canary+`":`), 1+l.random.IntN(20000))
	}
	got, err := l.shared.run(ctx, &spoilt)
	if err != nil {
		return err
	}
	l.searchFor(q, got)
	return nil
}

// searchFor looks for the other tenant's canary.
func (l *leakTrial) searchFor(q *leakQuestion, got reply) {
	for _, said := range [][]byte{got.answer, got.output} {
		if bytes.Contains(said, []byte(q.foreign)) {
			l.find(q, "it tells what the other tenant asked", "", string(said))
		}
	}
}

func (l *leakTrial) find(q *leakQuestion, why, want, got string) {
	l.report.Findings = append(l.report.Findings, Finding{
		Step: l.report.Steps, Tenant: q.tenant, Case: q.asked.Name, Why: why, Want: shortened(want), Got: shortened(got),
	})
}

func orAnswer(code string) string {
	if code == "" {
		return "an answer"
	}
	return code
}

// leakQuestion is one case as one tenant asks it.
type leakQuestion struct {
	asked           *Case
	tenant          string
	canary, foreign string // its own, and the other tenant's
	twice           bool   // a tool has a clock: only what two fresh instances agree about is compared

	known  bool
	want   reply
	steady bool
}

// expected asks a fresh instance, once.
func (q *leakQuestion) expected(ctx context.Context, fresh *stand) (reply, error) {
	if q.known {
		return q.want, nil
	}
	want, err := fresh.run(ctx, q.asked)
	if err != nil {
		return reply{}, err
	}
	q.known, q.want, q.steady = true, want, true
	if q.twice {
		again, err := fresh.run(ctx, q.asked)
		if err != nil {
			return reply{}, err
		}
		q.steady = again.code() == want.code() && bytes.Equal(again.answer, want.answer)
	}
	return want, nil
}

// leakQuestions makes of each case what two tenants ask: with their names in the identity, and their canary in a text
// of the input as well.
func leakQuestions(subject *Subject, random *rand.Rand) []*leakQuestion {
	canaries := [2]string{fmt.Sprintf("canary-a-%016x", random.Uint64()), fmt.Sprintf("canary-b-%016x", random.Uint64())}
	var all []*leakQuestion
	for _, c := range subject.Cases {
		for i, tenant := range []string{"a", "b"} {
			q := leakQuestion{tenant: tenant, canary: canaries[i], foreign: canaries[1-i], twice: !subject.Inspection.Kind.Pure()}
			for range 3 {
				one := q
				asked := *c
				asked.Input = withCanary(c.Input, q.canary, random)
				one.asked = &asked
				all = append(all, &one)
			}
		}
	}
	return all
}
