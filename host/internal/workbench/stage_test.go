package workbench

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// played sets a stage with recordings and returns a session that may reach api.example.
func played(t *testing.T, recordings string) (*stage, *egress.Session) {
	t.Helper()
	s, err := newStage(&Subject{})
	if err != nil {
		t.Fatal(err)
	}
	var script []Recording
	if err := json.Unmarshal([]byte(recordings), &script); err != nil {
		t.Fatal(err)
	}
	s.set(&Case{HTTP: script})
	grants, err := egress.NewGrants([]sdk.HTTPAccess{
		{Host: "api.example", Methods: []string{"GET", "POST"}}, {Scheme: "http", Host: "plain.example", Port: 8080},
	})
	if err != nil {
		t.Fatal(err)
	}
	session := s.world().Egress.Session(egress.Policy{Grants: grants, Limits: egress.Limits{Requests: 9, Bytes: 1 << 20, Redirects: 3}})
	t.Cleanup(session.Close)
	return s, session
}

func TestRecordedAnswersArePlayedInOrder(t *testing.T) {
	s, session := played(t, `[
		{"request": {"method": "POST", "url": "https://api.example/a?b=c", "headers": {"X-One": "1"}, "body": "hello"}, "response": {"status": 201, "headers": {"X-Two": "2"}, "body": "made"}},
		{"request": {"url": "http://plain.example:8080/"}, "response": {"body": "plain"}}]`)
	first, err := session.Send(t.Context(), sdk.HTTPRequest{Method: "POST", URL: "https://api.example/a?b=c", Header: map[string]string{"X-One": "1"}, Body: []byte("hello")})
	if err != nil || first.Status != 201 || string(first.Body) != "made" || first.Header["x-two"] != "2" {
		t.Errorf("%+v %v", first, err)
	}
	second, err := session.Send(t.Context(), sdk.HTTPRequest{Method: "GET", URL: "http://plain.example:8080"})
	if err != nil || second.Status != 200 || string(second.Body) != "plain" {
		t.Errorf("%+v %v", second, err)
	}
	if unmet, _ := s.struck(); len(unmet) > 0 {
		t.Error(unmet)
	}
}

func TestRequestThatIsNotAsRecordedFailsTheCase(t *testing.T) {
	for _, c := range []struct{ recorded, says string }{
		{`{"method": "POST"}`, `http[0] method: want "POST", got "GET"`},
		{`{"url": "https://api.example/b"}`, `http[0] url: want "https://api.example/b", got "https://api.example/a"`},
		{`{"headers": {"X-One": "1"}}`, `http[0] header X-One: want "1", got ""`},
		{`{"body": "x"}`, `http[0] body: want "x", got ""`},
	} {
		s, session := played(t, `[{"request": `+c.recorded+`}]`)
		if _, err := session.Send(t.Context(), sdk.HTTPRequest{Method: "GET", URL: "https://api.example/a"}); err != nil {
			t.Fatal(err)
		}
		unmet, _ := s.struck()
		if diff := cmp.Diff([]string{c.says}, unmet); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRequestTooManyAndOneTooFewFailTheCase(t *testing.T) {
	s, session := played(t, `[]`)
	if _, err := session.Send(t.Context(), sdk.HTTPRequest{Method: "GET", URL: "https://api.example/a"}); err != nil {
		t.Fatal(err)
	}
	if unmet, _ := s.struck(); len(unmet) != 1 || !strings.Contains(unmet[0], "nothing is recorded for GET https://api.example/a") {
		t.Error(unmet)
	}
	s, _ = played(t, `[{"request": {"url": "https://api.example/a"}}]`)
	if unmet, _ := s.struck(); len(unmet) != 1 || !strings.Contains(unmet[0], "nobody asked for") {
		t.Error(unmet)
	}
}

func TestGrantsHoldOnTheStage(t *testing.T) {
	s, session := played(t, `[]`)
	for _, url := range []string{"https://other.example/", "https://api.example:8443/", "http://127.0.0.1/"} {
		if _, err := session.Send(t.Context(), sdk.HTTPRequest{Method: "GET", URL: url}); err == nil {
			t.Errorf("%s was reached", url)
		}
	}
	if unmet, _ := s.struck(); len(unmet) > 0 {
		t.Error(unmet)
	}
}

func TestStoreOfACaseKeepsItsBounds(t *testing.T) {
	s, _ := played(t, `[]`)
	s.set(&Case{KV: map[string]string{"a": "1"}})
	ctx, drawer, none := context.Background(), run.Drawer{}, int64(0)
	if pair, found, _ := s.Pair(ctx, drawer, "a"); !found || string(pair.Value) != "1" || pair.Version != 1 {
		t.Errorf("%+v", pair)
	}
	if got, _ := s.PutPair(ctx, drawer, run.Put{Key: "a", Value: []byte("2"), IfVersion: &none, Limit: 100}); !got.Conflict {
		t.Errorf("%+v", got)
	}
	if got, _ := s.PutPair(ctx, drawer, run.Put{Key: "b", Value: []byte("22"), Limit: 4}); !got.Full {
		t.Errorf("%+v", got)
	}
	if got, _ := s.PutPair(ctx, drawer, run.Put{Key: "b", Value: []byte("2"), Limit: 4}); got.Version != 2 {
		t.Errorf("%+v", got)
	}
	if found, _ := s.DropPair(ctx, drawer, "a"); !found {
		t.Error("a was not there")
	}
	_, kept := s.struck()
	if diff := cmp.Diff(map[string]string{"b": "2"}, kept); diff != "" {
		t.Error(diff)
	}
}

func TestSecretHasOneValueInAllCases(t *testing.T) {
	one, two := &Case{Secrets: map[string]string{"key": "1"}}, &Case{Name: "two", Secrets: map[string]string{"key": "2"}}
	if _, err := newStage(&Subject{Cases: []*Case{one, two}}); err == nil || !strings.Contains(err.Error(), "secret key") {
		t.Error(err)
	}
}
