package client

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEachMethodAsksItsRoute(t *testing.T) {
	for _, c := range []struct {
		name, want, answer string
		do                 func(*Client) error
	}{
		{"runs", `GET /v1/runs?limit=5&status=running `, `{"runs":[{"run_id":"r"}]}`, func(c *Client) error {
			runs, err := c.Runs(t.Context(), RunsQuery{Limit: 5, Status: "running"})
			return check(err, len(runs.Items) == 1 && runs.Items[0].ID == "r")
		}},
		{"run", `GET /v1/runs/r%2F1 `, `{"run_id":"r/1","created_at":"2026-06-11T00:00:00.000001Z"}`, func(c *Client) error {
			run, err := c.Run(t.Context(), "r/1")
			return check(err, run.CreatedAt != nil && len(run.Raw) > 0)
		}},
		{"events", `GET /v1/runs/r/events?after_sequence=-1&limit=2 `, `{"events":[{"sequence":0}],"next_after_sequence":0,"has_more":true}`, func(c *Client) error {
			events, err := c.Events(t.Context(), "r", -1, 2)
			return check(err, events.HasMore && len(events.Items) == 1)
		}},
		{"cancel", `POST /v1/runs/r/cancel {"reason":"late"}`, `{"status":"cancelled"}`, func(c *Client) error {
			run, err := c.Cancel(t.Context(), "r", "late")
			return check(err, run.Status == "cancelled")
		}},
		{"submit", `POST /v1/runs {"messages":[{"role":"user","content":"q"}]}`, `{"run_id":"r"}`, func(c *Client) error {
			run, err := c.Submit(t.Context(), Ask("q"))
			return check(err, run.ID == "r")
		}},
		{"complete", `POST /v1/chat/completions {"messages":[{"role":"user","content":"q"}],"stream":false}`, `{"content":"a"}`, func(c *Client) error {
			answer, err := c.Complete(t.Context(), Ask("q"))
			return check(err, answer.Content == "a")
		}},
		{"approvals", `GET /v1/approvals?status=pending `, `{"approvals":[{"request_id":"a"}],"pending_count":1}`, func(c *Client) error {
			approvals, err := c.Approvals(t.Context(), ApprovalsQuery{Status: "pending"})
			return check(err, approvals.Pending == 1 && approvals.Items[0].ID == "a")
		}},
		{"approval", `GET /v1/approvals/a `, `{"approval":{"request_id":"a"}}`, func(c *Client) error {
			approval, err := c.Approval(t.Context(), "a")
			return check(err, approval.ID == "a")
		}},
		{"approve", `POST /v1/approvals/a/approve {}`, `{"approval":{"approved":true}}`, func(c *Client) error {
			approval, err := c.Approve(t.Context(), "a", "")
			return check(err, approval.Approved)
		}},
		{"deny", `POST /v1/approvals/a/deny {"reason":"no"}`, `{"approval":{"status":"denied"}}`, func(c *Client) error {
			approval, err := c.Deny(t.Context(), "a", "no")
			return check(err, approval.Status == "denied")
		}},
		{"resolve", `POST /v1/approvals/a/approve {"choice":"treat_as_done","reason":"I looked"} k-1`, `{"approval":{"kind":"outcome_unknown","choices":["retry"],"choice":"treat_as_done"}}`, func(c *Client) error {
			approval, err := c.Resolve(t.Context(), "a", Resolution{Approve: true, Choice: TreatAsDone, Reason: "I looked", IdempotencyKey: "k-1"})
			return check(err, approval.Kind == UnknownOutcome && approval.Choice == TreatAsDone && len(approval.Choices) == 1)
		}},
		{"refuse", `POST /v1/approvals/a/deny {} k-1`, `{"approval":{"status":"denied"}}`, func(c *Client) error {
			approval, err := c.Resolve(t.Context(), "a", Resolution{IdempotencyKey: "k-1"})
			return check(err, approval.Status == "denied")
		}},
		{"cancel once", `POST /v1/runs/r/cancel {} k-1`, `{"worker_id":"h/1","lease_expires_at":"2026-06-11T00:00:00Z","min_sequence":3}`, func(c *Client) error {
			run, err := c.CancelRun(t.Context(), "r", Cancellation{IdempotencyKey: "k-1"})
			return check(err, run.WorkerID == "h/1" && run.LeaseUntil != nil && run.MinSequence == 3)
		}},
		{"submit once", `POST /v1/runs {"messages":[{"role":"user","content":"q"}]} k-1`, `{"run_id":"r"}`, func(c *Client) error {
			request := Ask("q")
			request.IdempotencyKey = "k-1"
			run, err := c.Submit(t.Context(), request)
			return check(err, run.ID == "r")
		}},
		{"policy", `POST /v1/policy/check {"tool_name":"exec","tool_args":{"command":"ls"},"user_key":"pska:u"}`, `{"level":"danger"}`, func(c *Client) error {
			judgement, err := c.CheckPolicy(t.Context(), Probe{ToolName: "exec", ToolArgs: json.RawMessage(`{"command":"ls"}`), UserKey: "pska:u"})
			return check(err, judgement.Level == "danger")
		}},
		{"skills", `GET /v1/skills `, `{"skills":[{"name":"tides","triggers":["tide"]}]}`, func(c *Client) error {
			skills, err := c.Skills(t.Context())
			return check(err, len(skills.Items) == 1 && skills.Items[0].Name == "tides" && len(skills.Raw) > 0)
		}},
		{"ready", `GET /ready `, `{"status":"degraded"}`, func(c *Client) error {
			ready, err := c.Ready(t.Context())
			return check(err, ready.Status == "degraded")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got string
			client := service(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = r.Method + " " + r.URL.RequestURI() + " " + string(body)
				if key := r.Header.Get("Idempotency-Key"); key != "" {
					got += " " + key
				}
				if r.Header.Get("Authorization") != "Bearer t" {
					t.Error("the token is missing")
				}
				if len(body) > 0 && r.Header.Get("Content-Type") != "application/json" {
					t.Error("the content type is missing")
				}
				io.WriteString(w, c.answer)
			})
			if err := c.do(client); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// losing answers nothing to the first requests, and breaks the connection.
func losing(t *testing.T, first int, asked *[]string) *Client {
	return service(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = append(*asked, r.Header.Get("Idempotency-Key")+" "+string(body))
		if len(*asked) <= first {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"approval":`)
			return
		}
		io.WriteString(w, `{"approval":{"status":"approved"}}`)
	})
}

func TestAnAnswerThatWasLostIsSentAgainUnderItsKey(t *testing.T) {
	var asked []string
	approval, err := losing(t, 2, &asked).Resolve(t.Context(), "a", Resolution{Approve: true, IdempotencyKey: "k"})
	if err != nil || approval.Status != "approved" {
		t.Errorf("%v %v", approval, err)
	}
	if diff := cmp.Diff([]string{"k {}", "k {}", "k {}"}, asked); diff != "" {
		t.Error(diff)
	}
}

func TestAnAnswerWithoutAKeyIsSentOnce(t *testing.T) {
	var asked []string
	if _, err := losing(t, 2, &asked).Approve(t.Context(), "a", ""); !errors.Is(err, io.ErrUnexpectedEOF) || len(asked) != 1 {
		t.Errorf("%v after %d requests", err, len(asked))
	}
}

func TestAnAnswerThatIsAlwaysLostIsGivenUp(t *testing.T) {
	var asked []string
	_, err := losing(t, 99, &asked).Resolve(t.Context(), "a", Resolution{IdempotencyKey: "k"})
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(asked) != 3 {
		t.Errorf("%v after %d requests", err, len(asked))
	}
}

func TestARefusalIsNotAskedForAgain(t *testing.T) {
	asked := 0
	c := service(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusConflict)
	})
	if _, err := c.Resolve(t.Context(), "a", Resolution{IdempotencyKey: "k"}); !IsStatus(err, http.StatusConflict) || asked != 1 {
		t.Errorf("%v after %d requests", err, asked)
	}
}

func TestEventsThatAreNotKeptAreAnErrorThatSaysWhereTheRestBegins(t *testing.T) {
	c := service(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusGone)
		io.WriteString(w, `{"detail":"Gone.","error":{"code":"events_compacted","message":"Gone.","first_available_sequence":0}}`)
	})
	for _, err := range c.Follow(t.Context(), "r", -1) {
		var refused *Error
		if !errors.As(err, &refused) || refused.Code != "events_compacted" || refused.First == nil || *refused.First != 0 {
			t.Errorf("%v", err)
		}
	}
}

func TestTokenDoesNotFollowARedirect(t *testing.T) {
	asked := 0
	c := service(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	})
	if _, err := c.Ready(t.Context()); !IsStatus(err, http.StatusFound) || asked != 1 {
		t.Errorf("got %v after %d requests", err, asked)
	}
}

func TestOversizedAnswerIsAnError(t *testing.T) {
	c := service(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"status":"`+strings.Repeat("x", 2<<20)+`"}`)
	})
	if _, err := c.Ready(t.Context()); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v, want %v", err, ErrTooLarge)
	}
}

func TestErrorWithoutABodyStillSaysItsStatus(t *testing.T) {
	c := service(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	if _, err := c.Ready(t.Context()); !IsStatus(err, http.StatusBadGateway) || !strings.Contains(err.Error(), "502") {
		t.Errorf("got %v", err)
	}
}

func TestValidationErrorShowsItsSentenceAndEveryField(t *testing.T) {
	c := service(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		io.WriteString(w, `{"detail":[{"loc":["body","x",0],"msg":"Input should be text"},{"loc":["body","y"],"msg":"Field required"}],"error":{"code":"invalid_request","message":"The request is not valid."}}`)
	})
	_, err := c.Ready(t.Context())
	if !IsCode(err, "invalid_request") {
		t.Fatalf("got %v", err)
	}
	want := "service answered 422 invalid_request: The request is not valid. (body.x.0: Input should be text) (body.y: Field required)"
	if err.Error() != want {
		t.Errorf("it says %q, want %q", err, want)
	}
}

func TestImpossibleServiceAddressIsRefused(t *testing.T) {
	for _, address := range []string{"127.0.0.1:18741", "ftp://x", "http://", "::"} {
		if _, err := New(Config{URL: address}); err == nil {
			t.Errorf("%q was accepted", address)
		}
	}
}

func check(err error, holds bool) error {
	if err == nil && !holds {
		return errors.New("the answer was not read")
	}
	return err
}

func TestARequestForPartsSaysSo(t *testing.T) {
	for deltas, want := range map[bool]string{
		false: `{"messages":[{"role":"user","content":"?"}]}`,
		true:  `{"messages":[{"role":"user","content":"?"}],"stream_deltas":true}`,
	} {
		request := Ask("?")
		request.StreamDeltas = deltas
		raw, err := json.Marshal(request)
		if err != nil || string(raw) != want {
			t.Errorf("%s, %v", raw, err)
		}
	}
}
