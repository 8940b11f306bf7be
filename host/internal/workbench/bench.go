package workbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fastreact/fastreact/host/internal/wasm"
)

// BenchOptions say how often each case is called, and what it may cost at most; zero means no bound of its own: then
// what the manifest asks for is the budget.
type BenchOptions struct {
	Count      int
	BudgetGas  int64
	BudgetTime time.Duration // of the median call
}

// BenchReport is what a plugin costs on this machine. Gas is the same everywhere, times are not.
type BenchReport struct {
	Plugin     string        `json:"plugin"`
	Digest     string        `json:"digest"`
	Mode       string        `json:"mode"`
	OK         bool          `json:"ok"`
	Count      int           `json:"count"`
	BudgetGas  int64         `json:"budget_gas,omitempty"`
	BudgetTime time.Duration `json:"budget_ns,omitempty"`
	Cold       ColdStart     `json:"cold"`
	Cases      []BenchLine   `json:"cases"`
}

// ColdStart is what it costs until the plugin can answer.
type ColdStart struct {
	Compile    time.Duration `json:"compile_ns"`  // meter, compile and start, without a cache
	Start      time.Duration `json:"start_ns"`    // start once more, from compiled code
	ImageBytes int           `json:"image_bytes"` // of the snapshot that every call begins with; 0 in mode fresh
	Restore    time.Duration `json:"restore_ns"`  // after a call; 0 in mode fresh
}

// BenchLine is what one case costs.
type BenchLine struct {
	Name   string        `json:"name"`
	Op     string        `json:"op"`
	Gas    int64         `json:"gas"`
	Median time.Duration `json:"median_ns"` // in the plugin's own mode
	Slow   time.Duration `json:"p99_ns"`
	Fresh  time.Duration `json:"fresh_ns"` // median with a new instance for every call
	Over   []string      `json:"over,omitempty"`
	Error  string        `json:"error_code,omitempty"`
}

// freshShare is how many of the calls are made once more with new instances, which are slow.
const freshShare = 10

// Bench measures every case of a plugin.
func Bench(ctx context.Context, subject *Subject, o BenchOptions) (report BenchReport, err error) {
	if err := subject.needCases(); err != nil {
		return BenchReport{}, err
	}
	o = o.within(subject)
	report = BenchReport{
		Plugin: subject.Inspection.Name, Digest: subject.Inspection.Digest, Mode: string(modeOf(subject.Inspection.Kind)), OK: true,
		Count: o.Count, BudgetGas: o.BudgetGas, BudgetTime: o.BudgetTime,
	}
	usual, err := newStand(subject, wasm.Config{})
	if err != nil {
		return BenchReport{}, err
	}
	defer func() { err = errors.Join(err, usual.close(ctx)) }()
	alone, err := newStand(subject, wasm.Config{})
	if err != nil {
		return BenchReport{}, err
	}
	alone.mode = wasm.ModeFresh
	defer func() { err = errors.Join(err, alone.close(ctx)) }()
	if report.Cold, err = usual.cold(ctx); err != nil {
		return BenchReport{}, err
	}
	for _, c := range subject.Cases {
		line, err := measure(ctx, usual, alone, c, o)
		if err != nil {
			return BenchReport{}, fmt.Errorf("case %s: %w", c.Name, err)
		}
		report.OK = report.OK && len(line.Over) == 0
		report.Cases = append(report.Cases, line)
	}
	report.Cold.Restore = usual.restoreTime()
	return report, nil
}

// within fills what was left open.
func (o BenchOptions) within(subject *Subject) BenchOptions {
	asks := limitsOf(subject.Inspection.Limits)
	if o.BudgetGas == 0 {
		o.BudgetGas = asks["gas"]
	}
	if o.BudgetTime == 0 {
		o.BudgetTime = time.Duration(asks["wall"])
	}
	if o.Count == 0 {
		o.Count = 200
	}
	return o
}

// cold loads the module twice: the first time it is compiled, the second time only started.
func (s *stand) cold(ctx context.Context) (ColdStart, error) {
	var cold ColdStart
	module := wasm.Module{Bytes: s.module, AllowUnpinned: true, Grants: s.grants}
	for _, took := range []*time.Duration{&cold.Compile, &cold.Start} {
		began := time.Now()
		plugin, err := s.host.Load(ctx, module)
		if err != nil {
			return ColdStart{}, err
		}
		*took = time.Since(began)
		cold.ImageBytes = plugin.Gauges().ImageBytes
	}
	return cold, nil
}

// restoreTime is how long it takes on average to restore an instance after a call.
func (s *stand) restoreTime() time.Duration {
	var spent time.Duration
	var times int64
	for _, plugin := range s.loaded {
		gauges := plugin.Gauges()
		spent, times = spent+gauges.RestoreTime, times+int64(gauges.Restored)
	}
	if times == 0 {
		return 0
	}
	return spent / time.Duration(times)
}

func measure(ctx context.Context, usual, alone *stand, c *Case, o BenchOptions) (BenchLine, error) {
	line := BenchLine{Name: c.Name, Op: opName(c.Op)}
	times, last, err := usual.time(ctx, c, o.Count)
	if err != nil {
		return line, err
	}
	line.Gas, line.Error = last.gas, last.code()
	line.Median, line.Slow = times[len(times)/2], times[len(times)*99/100]
	if times, _, err = alone.time(ctx, c, max(3, o.Count/freshShare)); err != nil {
		return line, err
	}
	line.Fresh = times[len(times)/2]
	if o.BudgetGas > 0 && line.Gas > o.BudgetGas {
		line.Over = append(line.Over, fmt.Sprintf("gas %d of %d", line.Gas, o.BudgetGas))
	}
	if o.BudgetTime > 0 && line.Median > o.BudgetTime {
		line.Over = append(line.Over, fmt.Sprintf("time %s of %s", line.Median, o.BudgetTime))
	}
	return line, nil
}

// mostBenchTime ends a case that is slow before its count is reached.
const mostBenchTime = 3 * time.Second

// time calls one case again and again and returns how long each call took, sorted. The first call does not count.
func (s *stand) time(ctx context.Context, c *Case, count int) (times []time.Duration, last reply, err error) {
	if last, err = s.run(ctx, c); err != nil {
		return nil, last, err
	}
	for spent := time.Duration(0); len(times) < count && (spent < mostBenchTime || len(times) == 0); {
		if err := ctx.Err(); err != nil {
			return nil, last, context.Cause(ctx)
		}
		if last, err = s.run(ctx, c); err != nil {
			return nil, last, err
		}
		times = append(times, last.took)
		spent += last.took
	}
	slices.Sort(times)
	return times, last, nil
}
