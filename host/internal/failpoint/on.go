//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// What the program is told by its environment.
const (
	envPoints = "FASTREACT_FAILPOINTS"       // "append to run.begin=kill@3,tool.after=stop@1": what to do at a step's Nth hit
	envOff    = "FASTREACT_FAILPOINTS_OFF"   // "fence,dispatched": rules that are left out
	envLog    = "FASTREACT_FAILPOINTS_LOG"   // file to which every hit of a listed step and every Wrote adds a line
	envClock  = "FASTREACT_FAILPOINTS_CLOCK" // "-1h": how far this machine's clock is off
)

// scheme is what this process was told. It is read once.
type scheme struct {
	points map[string]*point
	off    map[string]bool
	log    *os.File
	skew   time.Duration
}

// point is a step at which something happens at one hit.
type point struct {
	signal syscall.Signal
	at     int64
	hits   atomic.Int64
}

var told = read()

// read panics over what cannot be read: a test that asks for nothing proves nothing.
func read() *scheme {
	s := &scheme{points: map[string]*point{}, off: map[string]bool{}}
	for one := range each(os.Getenv(envPoints)) {
		name, p := parse(one)
		s.points[name] = p
	}
	for rule := range each(os.Getenv(envOff)) {
		s.off[rule] = true
	}
	var err error
	if path := os.Getenv(envLog); path != "" {
		if s.log, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			panic(err)
		}
	}
	if off := os.Getenv(envClock); off != "" {
		if s.skew, err = time.ParseDuration(off); err != nil {
			panic(err)
		}
	}
	return s
}

// each yields the parts of a list with commas.
func each(list string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for part := range strings.SplitSeq(list, ",") {
			if part != "" && !yield(part) {
				return
			}
		}
	}
}

func parse(one string) (string, *point) {
	name, action, _ := strings.Cut(one, "=")
	what, at, _ := strings.Cut(action, "@")
	signal := map[string]syscall.Signal{"kill": syscall.SIGKILL, "stop": syscall.SIGSTOP}[what]
	n, err := strconv.ParseInt(at, 10, 64)
	if signal == 0 || err != nil || n < 1 {
		panic(fmt.Sprintf("%s: %q is no failpoint, such as tool.after=kill@1", envPoints, one))
	}
	return name, &point{signal: signal, at: n}
}

// Hit says that the program is at one side of a step: step.side is the name of the point. Where that
// was asked for, it does not return, or only when the process is woken again.
func Hit(step, side string) {
	name := step + "." + side
	p := told.points[name]
	if p == nil || p.hits.Add(1) != p.at {
		return
	}
	told.note("hit %s %d", name, os.Getpid())
	_ = syscall.Kill(os.Getpid(), p.signal)
	if p.signal == syscall.SIGKILL {
		select {} // the signal is on its way, and nothing of this goroutine comes after it
	}
}

// Off reports whether a rule is left out.
func Off(rule string) bool { return told.off[rule] }

// Wrote says that events of a run, from a sequence on, were committed by its claim of an epoch.
func Wrote(run string, epoch, from int64) { told.note("wrote %s %d %d", run, epoch, from) }

// Now is the time on this machine's clock.
func Now() time.Time { return time.Now().Add(told.skew) }

// note adds a line to the log, in one write.
func (s *scheme) note(format string, args ...any) {
	if s.log != nil {
		_, _ = fmt.Fprintf(s.log, format+"\n", args...)
	}
}
