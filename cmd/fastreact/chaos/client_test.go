package chaos

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

const (
	patience = 4 * time.Second        // for one answer, and for the silence of a stream, whose keepalives come every second
	breather = 50 * time.Millisecond  // before something is tried again
	forGood  = 100 * time.Millisecond // between two looks at something that changes
)

// ask sends one request to some node, once. status is 0 when no answer came.
func (w *world) ask(ctx context.Context, dice *rand.Rand, method, path string, body any, key string) (status int, raw []byte) {
	url := w.up(dice)
	if url == "" {
		return 0, nil
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	response, err := w.client.Do(newRequest(ctx, method, url+path, body, key))
	if err != nil {
		return 0, nil
	}
	defer response.Body.Close()
	raw, err = io.ReadAll(response.Body)
	if err != nil {
		return 0, nil
	}
	return response.StatusCode, raw
}

func newRequest(ctx context.Context, method, url string, body any, key string) *http.Request {
	var reader io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			panic(err)
		}
		reader = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, reader)
	if err != nil {
		panic(err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	return request
}

// insist sends one request to one node after the other until some answer settles it: neither silence, nor a node that
// is busy or ill.
func (w *world) insist(ctx context.Context, dice *rand.Rand, method, path string, body any, key string) (status int, raw []byte) {
	for ctx.Err() == nil {
		status, raw = w.ask(ctx, dice, method, path, body, key)
		if status != 0 && status < 500 && status != http.StatusTooManyRequests {
			return status, raw
		}
		w.count(func(t *tally) { t.retries++ })
		pause(ctx, breather)
	}
	return 0, nil
}

// get reads a JSON object from some node, however often it takes.
func (w *world) get(ctx context.Context, dice *rand.Rand, path string, into any) int {
	status, raw := w.insist(ctx, dice, "GET", path, nil, "")
	if status == http.StatusOK {
		if err := json.Unmarshal(raw, into); err != nil {
			w.violate("wire", "GET %s: %v: %s", path, err, raw)
		}
	}
	return status
}

// reader is a client that reads a run's events over whatever node answers, and goes on where it was cut.
type reader struct {
	w       *world
	run     string
	dice    *rand.Rand
	last    string   // id of the last frame
	seen    []string // frames with an id, as they stood on the wire
	done    bool     // [DONE] came
	resumed int
}

// follow reads until the stream says that it is done.
func (r *reader) follow(ctx context.Context) {
	for ctx.Err() == nil && !r.done {
		if url := r.w.up(r.dice); url != "" {
			request := newRequest(ctx, "GET", url+"/v1/runs/"+r.run+"/stream", nil, "")
			if r.last != "" {
				request.Header.Set("Last-Event-ID", r.last)
				r.resumed++
			}
			r.read(ctx, request)
		}
		if !r.done {
			pause(ctx, breather)
		}
	}
}

// read reads one stream until it ends, breaks, or is silent for too long. It reports the status of the answer.
func (r *reader) read(ctx context.Context, request *http.Request) int {
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	silence := time.AfterFunc(patience, cut)
	defer silence.Stop()
	response, err := r.w.client.Do(request.WithContext(ctx))
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return response.StatusCode
	}
	lines, frame := bufio.NewReader(response.Body), ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return response.StatusCode
		}
		silence.Reset(patience)
		frame += line
		if line == "\n" {
			r.take(frame)
			frame = ""
		}
	}
}

// take keeps a whole frame. Frames without an id are keepalives, and the end.
func (r *reader) take(frame string) {
	if rest, ok := strings.CutPrefix(frame, "id: "); ok {
		r.last, _, _ = strings.Cut(rest, "\n")
		r.seen = append(r.seen, frame)
		r.w.frames.Add(1)
	}
	if strings.HasPrefix(frame, "event: done\n") {
		r.done = true
	}
}
