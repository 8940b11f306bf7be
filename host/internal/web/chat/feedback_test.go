package chat

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// rated returns feedback on the first run of b.
func rated(b *book, rest string) string {
	runs, _ := b.stored()
	return `{"run_id":"` + runs[0].ID + `","session_id":"` + runs[0].SessionID + `",` + rest + `}`
}

// withARun is a book in which ann of pska has had an answer.
func withARun(t *testing.T) *book {
	b := newBook(diagnosed(ended("ANSWER", `{"text":"x"}`)))
	post(t.Context(), served(t, b), "/api/chat", hello)
	return b
}

func TestFeedbackIsKeptAndAnsweredWithNothing(t *testing.T) {
	b := withARun(t)
	for _, rest := range []string{`"rating":"up"`, `"rating":"down","comment":"wrong"`} {
		answer := post(t.Context(), served(t, b), "/api/feedback", rated(b, rest), "Accept", "application/json")
		if answer.Code != 204 || answer.Body.Len() > 0 {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
	}
	runs, _ := b.stored()
	want := []run.Feedback{
		{Ref: runs[0].Ref, SessionID: "s-1", Rating: run.Up},
		{Ref: runs[0].Ref, SessionID: "s-1", Rating: run.Down, Comment: "wrong"},
	}
	if diff := cmp.Diff(want, b.feedback, cmpopts.IgnoreFields(run.Feedback{}, "At")); diff != "" {
		t.Error(diff)
	}
}

func TestFeedbackOnIDsThatDoNotBelongTogetherIsNowhere(t *testing.T) {
	b := withARun(t)
	runs, _ := b.stored()
	for _, body := range []string{
		`{"run_id":"` + runs[0].ID + `","session_id":"other","rating":"up"}`,
		`{"run_id":"other","session_id":"s-1","rating":"up"}`,
	} {
		wantRefusal(t, post(t.Context(), served(t, b), "/api/feedback", body), 404, "CHAT_NOT_FOUND")
	}
	if len(b.feedback) > 0 {
		t.Errorf("%v", b.feedback)
	}
}

func TestFeedbackOnSomebodyElsesRunIsNowhere(t *testing.T) {
	b := withARun(t)
	handler := served(t, b, withUsers)
	good := rated(b, `"rating":"up"`)
	service := "Bearer service-token-of-the-test"
	for _, header := range [][]string{
		{"Authorization", "Bearer pska:bob/pska"},
		{"Authorization", "Bearer pska:ann/acme"},
		{"Authorization", service, web.UserHeader, "pska:bob"},
		{"Authorization", service, web.TenantHeader, "acme"},
	} {
		wantRefusal(t, post(t.Context(), handler, "/api/feedback", good, header...), 404, "CHAT_NOT_FOUND")
	}
	for _, header := range [][]string{
		{"Authorization", "Bearer pska:ann/pska"},
		{"Authorization", service},
		{"Authorization", service, web.UserHeader, "pska:ann"},
	} {
		if answer := post(t.Context(), handler, "/api/feedback", good, header...); answer.Code != 204 {
			t.Errorf("%v: %d %s", header, answer.Code, answer.Body)
		}
	}
}

func TestFeedbackThatIsNoneIsRefused(t *testing.T) {
	b := withARun(t)
	for _, body := range []string{
		"", `{}`, rated(b, `"rating":"sideways"`), rated(b, `"rating":""`), rated(b, `"rating":1`), rated(b, `"comment":"x"`),
		rated(b, `"rating":"up","comment":"`+strings.Repeat("é", 2001)+`"`), rated(b, `"rating":"up","comment":5`),
		rated(b, `"rating":"up","stars":"5"`), `{"run_id":"r","rating":"up"}`, `{"session_id":"s","rating":"up"}`,
	} {
		answer := post(t.Context(), served(t, b, func(cfg *Config, _ *web.Config) { cfg.MaxRequestBytes = 1 << 20 }),
			"/api/feedback", body)
		wantRefusal(t, answer, 400, "CHAT_INVALID_REQUEST")
	}
	if len(b.feedback) > 0 {
		t.Errorf("%v", b.feedback)
	}
}

func TestACommentOfExactlyTheLimitIsKept(t *testing.T) {
	b := withARun(t)
	handler := served(t, b, func(cfg *Config, _ *web.Config) { cfg.MaxRequestBytes = 1 << 20 })
	body := rated(b, `"rating":"up","comment":"`+strings.Repeat("é", 2000)+`"`)
	if answer := post(t.Context(), handler, "/api/feedback", body); answer.Code != 204 {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

func TestFeedbackThatTheStoreDoesNotTakeIsAnAnswer(t *testing.T) {
	b := withARun(t)
	b.refusal = &run.Error{Code: run.CodeStore, Sentence: canary}
	wantRefusal(t, post(t.Context(), served(t, b), "/api/feedback", rated(b, `"rating":"up"`)), 503, "CHAT_STORE_UNAVAILABLE")
}
