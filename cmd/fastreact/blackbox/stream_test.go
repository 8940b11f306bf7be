package blackbox

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// frame is one SSE frame as it stood on the wire.
type frame struct {
	id, event, data string
	raw             string
}

// json decodes the frame's data.
func (f frame) json(t *testing.T) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(f.data), &object); err != nil {
		t.Fatalf("frame %q: %v", f.raw, err)
	}
	return object
}

// frames reads SSE frames until the stream ends or stop says so; comments are dropped.
type frames struct {
	t      *testing.T
	reader *bufio.Reader
	body   io.Closer
}

func (s *service) stream(body any, headers ...string) *frames {
	s.t.Helper()
	response := s.open("POST", "/v1/chat/completions", body, headers...)
	if response.StatusCode != 200 {
		raw, _ := io.ReadAll(response.Body)
		s.t.Fatalf("stream: %d %s\n%s", response.StatusCode, raw, s.output)
	}
	return newFrames(s.t, response.Body)
}

func newFrames(t *testing.T, body io.ReadCloser) *frames {
	t.Cleanup(func() { body.Close() })
	return &frames{t: t, reader: bufio.NewReaderSize(body, 1<<20), body: body}
}

// next returns the next frame; ok is false at the end of the stream.
func (f *frames) next() (next frame, ok bool) {
	f.t.Helper()
	for {
		line, err := f.reader.ReadString('\n')
		if err != nil {
			return frame{}, false
		}
		if line == "\n" {
			if next.event == "" && next.data == "" {
				next = frame{}
				continue
			}
			next.raw += line
			return next, true
		}
		next.raw += line
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "id: "):
			next.id = line[4:]
		case strings.HasPrefix(line, "event: "):
			next.event = line[7:]
		case strings.HasPrefix(line, "data: "):
			next.data = line[6:]
		case !strings.HasPrefix(line, ":"):
			f.t.Fatalf("line on the wire that is no SSE: %q", line)
		}
	}
}

// until reads frames up to the first of the event kind and returns all of them.
func (f *frames) until(event string) []frame {
	f.t.Helper()
	var all []frame
	for {
		next, ok := f.next()
		if !ok {
			f.t.Fatalf("the stream ended before %s: %v", event, kinds(all))
		}
		all = append(all, next)
		if next.event == event {
			return all
		}
	}
}

// rest reads to the end.
func (f *frames) rest() []frame {
	f.t.Helper()
	var all []frame
	for {
		next, ok := f.next()
		if !ok {
			return all
		}
		all = append(all, next)
	}
}

func kinds(all []frame) []string {
	var names []string
	for _, f := range all {
		names = append(names, f.event)
	}
	return names
}

// of returns the frames of one kind.
func of(all []frame, event string) []frame {
	var some []frame
	for _, f := range all {
		if f.event == event {
			some = append(some, f)
		}
	}
	return some
}

// ask is a streamed question of the user pska:user_primary with more request fields.
func ask(question string, more map[string]any) map[string]any {
	body := map[string]any{
		"messages": []any{map[string]any{"role": "user", "content": question}},
		"stream":   true,
		"user_key": "pska:user_primary",
		"metadata": map[string]any{"pska_user_id": "user_primary"},
	}
	for key, value := range more {
		body[key] = value
	}
	return body
}

// readAll posts a streamed chat and returns every whole frame that arrives until the stream ends or breaks.
func readAll(url, body string) []string {
	response, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	var all []string
	reader, frame := bufio.NewReader(response.Body), ""
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return all
		}
		frame += line
		if line != "\n" {
			continue
		}
		if !strings.HasPrefix(frame, ":") && response.StatusCode == http.StatusOK {
			all = append(all, frame)
		}
		frame = ""
	}
}
