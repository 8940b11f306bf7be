package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// turnCalls is how many calls a contestant makes before it is the next one's turn.
const turnCalls = 500

// contestant gives verdicts: a question as JSON in, an opinion as JSON out.
type contestant struct {
	name string
	ask  func(question []byte) ([]byte, error)
	rest func() // between two calls, off the clock: a caller who does not come at once again; nil = none
}

// race lets contestants take turns, so that whatever else the machine does hits all of them.
type race struct {
	contestants []contestant
	turns       map[string][]time.Duration // per call
}

func newRace(b *testing.B, contestants ...contestant) *race {
	b.Helper()
	return &race{contestants, map[string][]time.Duration{}}
}

// run lets every contestant answer each question, checks that all say what is wanted, and takes b.N rounds of turns on
// the first question, the one that takes longest because no rule objects.
func (r *race) run(b *testing.B, questions []question) {
	b.Helper()
	for _, c := range r.contestants {
		for _, q := range questions {
			answer, err := c.ask(q.text)
			if err != nil {
				b.Fatalf("%s: %v", c.name, err)
			}
			var opinion sdk.Opinion
			if err := json.Unmarshal(answer, &opinion); err != nil || opinion.Action != q.want {
				b.Fatalf("%s answers %s to %s (%v)", c.name, bytes.TrimSpace(answer), q.text, err)
			}
		}
	}
	for b.Loop() {
		for _, c := range r.contestants {
			r.turns[c.name] = append(r.turns[c.name], turn(b, c, questions[0].text))
		}
	}
	for _, c := range r.contestants {
		median, low, high := spread(r.turns[c.name])
		b.Log(fmt.Sprintf("%-8s median %8.2f µs, 10 %% to 90 %%: %.2f to %.2f µs, %d turns of %d calls",
			c.name, micros(median), micros(low), micros(high), len(r.turns[c.name]), turnCalls))
	}
}

func turn(b *testing.B, c contestant, question []byte) time.Duration {
	var took time.Duration
	for range turnCalls {
		start := time.Now()
		if _, err := c.ask(question); err != nil {
			b.Fatalf("%s: %v", c.name, err)
		}
		took += time.Since(start)
		if c.rest != nil {
			c.rest()
		}
	}
	return took / turnCalls
}

// report adds the ratio of two medians to the benchmark's figures.
func (r *race) report(b *testing.B, label, one, other string) {
	a, _, _ := spread(r.turns[one])
	c, _, _ := spread(r.turns[other])
	b.ReportMetric(float64(a)/float64(c), label)
}

func spread(turns []time.Duration) (median, low, high time.Duration) {
	sorted := slices.Sorted(slices.Values(turns))
	return sorted[len(sorted)/2], sorted[len(sorted)/10], sorted[len(sorted)*9/10]
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
