package model_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

// beat is a piece of a response body and the silence before it.
type beat struct {
	after time.Duration
	data  string
}

// clockwork is a transport without a network: its responses arrive in the time of the test's bubble.
type clockwork struct {
	responses [][]beat
	status    int
	header    http.Header
	sent      []time.Time
}

func (c *clockwork) RoundTrip(r *http.Request) (*http.Response, error) {
	c.sent = append(c.sent, time.Now())
	beats := c.responses[0]
	c.responses = c.responses[1:]
	status := http.StatusOK
	if beats == nil {
		return &http.Response{StatusCode: c.status, Header: c.header, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
	}
	out, in := io.Pipe()
	go play(r.Context(), in, beats)
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: out, Request: r}, nil
}

// play writes the beats, then stays silent until the request ends.
func play(ctx context.Context, in *io.PipeWriter, beats []beat) {
	for _, b := range beats {
		select {
		case <-time.After(b.after):
			if _, err := io.WriteString(in, b.data); err != nil {
				return
			}
		case <-ctx.Done():
		}
	}
	<-ctx.Done()
	in.CloseWithError(context.Cause(ctx))
}

func (c *clockwork) client() *model.OpenAI {
	return model.NewOpenAI(model.OpenAIConfig{
		BaseURL: "http://model.test/v1", Name: "m", Transport: c, MaxRetries: 2,
		FirstByte: 10 * time.Second, Idle: 20 * time.Second, Total: 100 * time.Second,
	})
}

func TestSilenceEndsAReply(t *testing.T) {
	token := frames(textChunk("x"))
	steady := make([]beat, 20)
	for i := range steady {
		steady[i] = beat{9 * time.Second, token}
	}
	for name, test := range map[string]struct {
		beats []beat
		after time.Duration
	}{
		"before the first byte": {[]beat{{11 * time.Second, token}}, 10 * time.Second},
		"between two tokens":    {[]beat{{time.Second, token}}, 21 * time.Second},
		"too long in all":       {steady, 100 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, err := (&clockwork{responses: [][]beat{test.beats}}).client().Complete(t.Context(), question(), nil)
				if !run.IsCode(err, run.CodeModelTimeout) {
					t.Errorf("got %v", err)
				}
				if took := time.Since(start); took != test.after {
					t.Errorf("took %s, want %s", took, test.after)
				}
			})
		})
	}
}

func TestAVendorThatStaysOpenAfterTheFinishReasonCostsFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		c := &clockwork{responses: [][]beat{{{0, frames(textChunk("x"), finishChunk("stop"))}}}}
		reply, err := c.client().Complete(t.Context(), question(), nil)
		if err != nil || reply.Text != "x" || time.Since(start) != 5*time.Second {
			t.Errorf("got %+v, %v after %s", reply, err, time.Since(start))
		}
	})
}

func TestRetryAfterIsHonouredUpToHalfAMinute(t *testing.T) {
	for header, want := range map[string]time.Duration{"7": 7 * time.Second, "3600": 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			c := &clockwork{status: 429, header: http.Header{"Retry-After": {header}}}
			c.responses = [][]beat{nil, {{0, frames(textChunk("x"), finishChunk("stop")) + "data: [DONE]\n\n"}}}
			if _, err := c.client().Complete(t.Context(), question(), nil); err != nil {
				t.Fatal(err)
			}
			if waited := c.sent[1].Sub(c.sent[0]); waited != want {
				t.Errorf("Retry-After %s: waited %s, want %s", header, waited, want)
			}
		})
	}
}

func TestPausesGrowWithoutAWish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clockwork{status: 500, responses: [][]beat{nil, nil, nil}}
		_, err := c.client().Complete(t.Context(), question(), nil)
		if !run.IsCode(err, run.CodeModelUnavailable) {
			t.Fatalf("got %v", err)
		}
		first, second := c.sent[1].Sub(c.sent[0]), c.sent[2].Sub(c.sent[1])
		if first < 250*time.Millisecond || first > 500*time.Millisecond || second < 500*time.Millisecond || second > time.Second {
			t.Errorf("pauses %s and %s", first, second)
		}
	})
}

func TestACallerThatLeavesHearsItsOwnCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := errors.New("caller left")
		ctx, leave := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { leave(left) })
		start := time.Now()
		_, err := (&clockwork{responses: [][]beat{{{time.Second, frames(textChunk("x"))}}}}).client().Complete(ctx, question(), nil)
		if !errors.Is(err, left) || time.Since(start) != 3*time.Second {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func TestRetryAfterMayBeADate(t *testing.T) {
	for later, want := range map[time.Duration]time.Duration{9 * time.Second: 9 * time.Second, time.Hour: 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			date := time.Now().Add(later).UTC().Format(http.TimeFormat)
			c := &clockwork{status: 503, header: http.Header{"Retry-After": {date}}}
			c.responses = [][]beat{nil, {{0, frames(textChunk("x"), finishChunk("stop")) + "data: [DONE]\n\n"}}}
			if _, err := c.client().Complete(t.Context(), question(), nil); err != nil {
				t.Fatal(err)
			}
			if waited := c.sent[1].Sub(c.sent[0]); waited != want {
				t.Errorf("Retry-After %s: waited %s, want %s", date, waited, want)
			}
		})
	}
}

func TestRetriesEndWithTheTimeForOneReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		c := &clockwork{status: 429, header: http.Header{"Retry-After": {"30"}}, responses: make([][]beat, 20)}
		client := model.NewOpenAI(model.OpenAIConfig{
			BaseURL: "http://model.test/v1", Name: "m", Transport: c, MaxRetries: 20, Total: 100 * time.Second,
		})
		_, err := client.Complete(t.Context(), question(), nil)
		if !run.IsCode(err, run.CodeModelTimeout) || time.Since(start) != 100*time.Second || len(c.sent) != 4 {
			t.Errorf("got %v after %s and %d requests", err, time.Since(start), len(c.sent))
		}
	})
}
