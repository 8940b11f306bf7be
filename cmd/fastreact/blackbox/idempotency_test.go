package blackbox

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// runIDs lists the runs that the service knows.
func (s *service) runIDs() []string {
	s.t.Helper()
	_, raw := s.request("GET", "/v1/runs", nil)
	var ids []string
	for _, one := range s.object(raw)["runs"].([]any) {
		ids = append(ids, one.(map[string]any)["run_id"].(string))
	}
	return ids
}

func TestTwentyParallelRequestsUnderOneIdempotencyKeyAreOneRun(t *testing.T) {
	t.Parallel()
	for path, stream := range map[string]bool{"/v1/chat/completions": true, "/v1/runs": false} {
		t.Run(path, func(t *testing.T) {
			model := newModel(t, searchThenAnswer)
			s := start(t, model, "")
			body := ask("What is alpha?", map[string]any{"stream": stream})
			var all sync.WaitGroup
			var mu sync.Mutex
			seen := map[string]int{}
			for range 20 {
				all.Go(func() {
					response := s.open("POST", path, body, "Idempotency-Key", "one")
					defer response.Body.Close()
					raw, err := io.ReadAll(response.Body)
					if err != nil || response.StatusCode != 200 {
						t.Errorf("%d %v %s", response.StatusCode, err, raw)
					}
					mu.Lock()
					defer mu.Unlock()
					id := response.Header.Get("X-FastReAct-Run-ID")
					if !stream {
						id, _ = s.object(raw)["run_id"].(string)
					}
					if stream && strings.Count(string(raw), "event: session_end\n") != 1 {
						t.Errorf("not one answer in the stream:\n%s", raw)
					}
					seen[id]++
				})
			}
			all.Wait()
			if len(seen) != 1 {
				t.Errorf("runs of the answers: %v", seen)
			}
			if ids := s.runIDs(); len(ids) != 1 || seen[ids[0]] != 20 {
				t.Errorf("runs %v, seen %v", ids, seen)
			}
		})
	}
}

func TestIdempotencyKeyHoldsAcrossARestart(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "")
	body := ask("What is alpha?", nil)
	first := raws(s.stream(body, "Idempotency-Key", "k").rest())
	s.kill()
	s.run()
	if diff := cmp.Diff(first, raws(s.stream(body, "Idempotency-Key", "k").rest())); diff != "" {
		t.Errorf("the repeated stream (-first +again):\n%s", diff)
	}
}

func TestIdempotencyKeyOfAnotherUserOrTenantIsAnotherKey(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "")
	for _, user := range []string{"pska:a", "pska:b", "other:a"} {
		body := ask("What is alpha?", map[string]any{"user_key": user, "metadata": map[string]any{}})
		s.stream(body, "Idempotency-Key", "k").rest()
	}
	if ids := s.runIDs(); len(ids) != 3 {
		t.Errorf("runs %v", ids)
	}
}

func TestIdempotencyKeyWithAnotherBodyOrRouteIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, newModel(t, searchThenAnswer), "")
	s.stream(ask("What is alpha?", nil), "Idempotency-Key", "k").rest()
	for path, body := range map[string]map[string]any{
		"/v1/chat/completions": ask("What is beta?", nil), "/v1/runs": ask("What is alpha?", nil),
	} {
		status, raw := s.request("POST", path, body, "Idempotency-Key", "k")
		failure, _ := s.object(raw)["error"].(map[string]any)
		if status != 409 || failure["code"] != "idempotency_key_reused" {
			t.Errorf("%s: %d %s", path, status, raw)
		}
	}
	if ids := s.runIDs(); len(ids) != 1 {
		t.Errorf("runs %v", ids)
	}
}

func TestDisconnectOfARepeatedRequestDoesNotCancelItsRun(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := start(t, newModel(t, func(asked) said { <-release; return said{text: "Late."} }), "")
	body := ask("What is alpha?", nil)
	first := s.stream(body, "Idempotency-Key", "k")
	first.until("session_start")
	again := s.stream(body, "Idempotency-Key", "k")
	again.until("session_start")
	again.body.Close()
	close(release)
	if end := of(first.rest(), "session_end"); len(end) != 1 || end[0].json(t)["content"] != "Late." {
		t.Errorf("end %v", end)
	}
}
