package chat

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/web"
)

// tape keeps what a script sends. The write with the number fails, counted from 1.
type tape struct {
	events []string
	frames []string
	fails  int
}

var errTape = errors.New("the reader is gone")

func (t *tape) SendUnnumbered(event string, value any) error {
	t.events = append(t.events, event)
	encoded, err := web.Encode(value)
	t.frames = append(t.frames, event+" "+string(encoded))
	if len(t.events) == t.fails {
		return errTape
	}
	return err
}

func (t *tape) KeepAlive() error {
	t.events = append(t.events, ":")
	if len(t.events) == t.fails {
		return errTape
	}
	return nil
}

// moves is everything that can be asked of a script.
func moves() map[string]func(*script) error {
	return map[string]func(*script) error{
		"metadata":  func(s *script) error { return s.metadata(metadata{"session-1", "run-1"}) },
		"planning":  func(s *script) error { return s.status(planning) },
		"analyzing": func(s *script) error { return s.status(analyzing) },
		"answer":    func(s *script) error { return s.release(content{answerContent, spoken{"Hello."}}) },
		"fallback":  func(s *script) error { return s.release(content{fallbackContent, spoken{"Sorry."}}) },
		"failure":   func(s *script) error { return s.fail(internalFailure) },
		"keepalive": (*script).keepAlive,
		"leave":     func(s *script) error { s.leave(); return nil },
	}
}

// sequences calls try with every sequence of moves up to a length.
func sequences(length int, try func([]string)) {
	var names []string
	for name := range moves() {
		names = append(names, name)
	}
	var extend func([]string)
	extend = func(sequence []string) {
		try(sequence)
		if len(sequence) == length {
			return
		}
		for _, name := range names {
			extend(append(sequence[:len(sequence):len(sequence)], name))
		}
	}
	extend(nil)
}

// whole is what a client may see until it has seen everything; partial is what it may see when it leaves early.
var (
	whole   = regexp.MustCompile(`^metadata (status |: )*(content|failure) done $`)
	partial = regexp.MustCompile(`^(metadata (status |: )*)?$`)
)

func TestNoSequenceOfCallsWritesAnotherOrder(t *testing.T) {
	tried := 0
	sequences(5, func(sequence []string) {
		tried++
		to := &tape{}
		s := &script{to: to}
		for _, name := range sequence {
			before := len(to.events)
			if err := moves()[name](s); err != nil && len(to.events) != before {
				t.Fatalf("%v: %s was refused and sent", sequence, name)
			}
		}
		sent := strings.Join(append(to.events, ""), " ")
		if !whole.MatchString(sent) && !partial.MatchString(sent) {
			t.Fatalf("%v wrote %s", sequence, sent)
		}
	})
	if tried < 8*8*8*8*8 {
		t.Errorf("%d sequences tried", tried)
	}
}

func TestNothingFollowsAWriteThatFailed(t *testing.T) {
	for fails := 1; fails <= 6; fails++ {
		sequences(4, func(sequence []string) {
			to := &tape{fails: fails}
			s := &script{to: to}
			for _, name := range sequence {
				err := moves()[name](s)
				if failed := len(to.events) == fails; errors.Is(err, errTape) && !failed {
					t.Fatalf("%v: %v after %v", sequence, err, to.events)
				}
			}
			if len(to.events) > fails {
				t.Fatalf("%v wrote %v after its write %d failed", sequence, to.events, fails)
			}
		})
	}
}

func TestDoneSaysWhatBecameOfTheOneAnswer(t *testing.T) {
	for name, want := range map[string]string{"answer": "SUCCESS", "fallback": "FALLBACK", "failure": "FAILED"} {
		to := &tape{}
		s := &script{to: to}
		if err := errors.Join(moves()["metadata"](s), moves()[name](s)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fmt.Sprintf(`done {"outcome":"%s"}`, want), to.frames[len(to.frames)-1]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAStatusIsNotRepeated(t *testing.T) {
	to := &tape{}
	s := &script{to: to}
	for _, name := range []string{"metadata", "planning", "planning", "keepalive", "planning", "analyzing", "planning"} {
		if err := moves()[name](s); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"metadata", "status", ":", "status", "status"}, to.events); diff != "" {
		t.Error(diff)
	}
}

func TestEveryCodeHasItsOwnWords(t *testing.T) {
	said := map[string]string{"": "no words"}
	for _, code := range []statusCode{routing, planning, collecting, analyzing, verifying, repairing} {
		if other, taken := said[code.message()]; taken {
			t.Errorf("%s says the same as %s", code, other)
		}
		said[code.message()] = string(code)
	}
	for _, code := range []failureCode{
		routingFailed, modelUnavailable, modelSaturated, budgetExhausted, timedOut, storeUnavailable, internalFailure,
	} {
		if other, taken := said[code.message()]; taken {
			t.Errorf("%s says the same as %s", code, other)
		}
		said[code.message()] = string(code)
	}
}
