package wasm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// leakSteps is how many calls the leak test makes on each kind of image where nobody asks for more.
const leakSteps = 2000

// turns is one random interleaving of two tenants' calls of a module that remembers whatever it can: the input of the
// call before, in memory and in a global. Some calls trap, spin, or grow memory between.
type turns struct {
	dice  *rand.Rand
	plain map[string]string // answer of an instance that nobody used before, by input
	fresh *Plugin
}

func newTurns(t *testing.T, seed uint64) *turns {
	t.Helper()
	return &turns{
		dice:  rand.New(rand.NewPCG(seed, 1)),
		plain: map[string]string{},
		fresh: leakyPlugin(t, newHost(t, Config{}), ModeFresh, leakyPages),
	}
}

// leakyPages is how much memory the leaky module begins with.
const leakyPages = 3

// leakyPlugin loads the leaky module with so many pages of memory: how many decides how it is restored.
func leakyPlugin(t *testing.T, host *Host, mode Mode, pages byte) *Plugin {
	t.Helper()
	module := wat(t, "hostile/leaky")
	memory := []byte{sectionMemory, 3, 1, 0, leakyPages} // the whole section: one memory without a maximum
	if bytes.Count(module, memory) != 1 {
		t.Fatal("the leaky module has another memory")
	}
	return load(t, host, Module{
		Bytes: bytes.Replace(module, memory, []byte{sectionMemory, 3, 1, 0, pages}, 1), Mode: mode,
		Limits: sdk.Limits{Wall: sdk.Duration(30 * time.Second), Gas: 20_000_000},
	})
}

// next returns a question of one of the tenants, with his canary in it.
func (s *turns) next() []byte {
	tenant := []string{"alpha-canary-7731", "omega-canary-9902"}[s.dice.IntN(2)]
	deed := []string{"answer", "answer", "answer", "answer", "answer", "answer", "trap", "spin", "grow", "exit", "close", "zero"}[s.dice.IntN(12)]
	if deed == "spin" && s.dice.IntN(20) > 0 {
		deed = "answer" // it is slow
	}
	question := sdk.Question{
		Tool: deed, Args: json.RawMessage(fmt.Sprintf(`{"n":%d,"pad":%q}`, s.dice.IntN(50), strings.Repeat("x", s.dice.IntN(4)*40))),
		Identity: sdk.Identity{TenantKey: tenant},
	}
	input, err := encode(question)
	if err != nil {
		panic(err)
	}
	return input
}

// outcomeOf describes how a call ended, answer or failure, and what it cost.
func outcomeOf(ctx context.Context, p *Plugin, input []byte) string {
	var spent Spent
	answer, err := p.exchange(ctx, sdk.OpEvaluate, CallContext{Spent: &spent}, input)
	if err != nil {
		return fmt.Sprintf("%v for %+v", asFailure("", err), spent)
	}
	return fmt.Sprintf("%s for %+v", answer, spent)
}

// want is how the same call ends in an instance of its own.
func (s *turns) want(ctx context.Context, input []byte) string {
	known, there := s.plain[string(input)]
	if !there {
		known = outcomeOf(ctx, s.fresh, input)
		s.plain[string(input)] = known
	}
	return known
}

// play makes so many calls and returns the first that ended otherwise than it must, or -1.
func (s *turns) play(t *testing.T, p *Plugin, steps int) int {
	t.Helper()
	for n := range steps {
		input := s.next()
		if got, want := outcomeOf(t.Context(), p, input), s.want(t.Context(), input); got != want {
			t.Logf("step %d: %s\n got %q\nwant %q", n, input, got, want)
			return n
		}
	}
	return -1
}

// soakSteps is FASTREACT_SOAK, else as many steps as CI has time for.
func soakSteps(t *testing.T) int {
	t.Helper()
	text := os.Getenv("FASTREACT_SOAK")
	if text == "" {
		return leakSteps
	}
	steps, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("FASTREACT_SOAK: %v", err)
	}
	return steps
}

func TestNoCallLearnsAnythingOfTheCallsBefore(t *testing.T) {
	for name, pages := range map[string]byte{"of an image that is compared": leakyPages, "of an image that is mapped": 9} {
		t.Run(name, func(t *testing.T) {
			steps := soakSteps(t)
			seed := uint64(time.Now().UnixNano())
			s := newTurns(t, seed)
			p := leakyPlugin(t, newHost(t, Config{}), ModeSnapshot, pages)
			if failed := s.play(t, p, steps); failed >= 0 {
				t.Errorf("seed %d: step %d differs from what a fresh instance answers", seed, failed)
			}
			g := p.Gauges()
			t.Logf("%d interleaved calls answered as fresh instances do (seed %d): image of %d bytes, %d instances made, %d restored, %d discarded",
				steps, seed, g.ImageBytes, g.Made, g.Restored, g.Discarded)
		})
	}
}

func TestLeakTestFindsALeakWhenNothingIsRestored(t *testing.T) {
	s := newTurns(t, 1)
	p := leakyPlugin(t, newHost(t, Config{}), ModeSnapshot, leakyPages)
	p.leak = func(*instance) error { return nil }
	failed := s.play(t, p, 100)
	if failed < 0 {
		t.Error("100 calls without restoring went unnoticed: the test finds nothing")
	}
	t.Logf("without restoring, step %d shows it", failed)
}

func TestLeakTestFindsALeakWhenOnlyGlobalsAreRestored(t *testing.T) {
	s := newTurns(t, 1)
	p := leakyPlugin(t, newHost(t, Config{}), ModeSnapshot, leakyPages)
	p.leak = func(i *instance) error {
		p.image.recall(i)
		return nil
	}
	if s.play(t, p, 100) < 0 {
		t.Error("100 calls without restoring memory went unnoticed: the test finds nothing")
	}
}

func TestNoCallLearnsAnythingWhileManyRunAndThePluginCloses(t *testing.T) {
	host := newHost(t, Config{})
	s := newTurns(t, 3)
	var inputs [][]byte
	for len(inputs) < 40 {
		input := s.next()
		if !strings.Contains(string(input), `"spin"`) {
			inputs = append(inputs, input)
			s.want(t.Context(), input)
		}
	}
	for range 10 {
		p := leakyPlugin(t, host, ModeSnapshot, leakyPages)
		var callers sync.WaitGroup
		for n := range 4 {
			callers.Go(func() {
				for k := range 20 {
					input := inputs[(n*20+k)%len(inputs)]
					got := outcomeOf(t.Context(), p, input)
					if strings.Contains(got, ErrClosed.Error()) {
						return
					}
					if want := s.plain[string(input)]; got != want {
						t.Errorf("%s\n got %q\nwant %q", input, got, want)
						return
					}
				}
			})
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
		callers.Wait()
	}
}
