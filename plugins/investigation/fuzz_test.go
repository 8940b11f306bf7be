package investigation

import (
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/fastreact/fastreact/examples/investigation/specimen"
)

func FuzzAnySnapshotIsAnsweredOrRefused(f *testing.F) {
	for _, w := range []specimen.Workspace{specimen.Harbour(), specimen.Observatory(), specimen.Hostile()} {
		f.Add(w.Core)
		f.Add(w.Jobs)
	}
	f.Add([]byte(`{"nodes":[{"id":"a:0b8e6a52-6f0f-5d0c-9d6e-0f6f0d6b1c11","label":"\ud800","details":{"\u0000":"\u2028"}}],"edges":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if checkText(text) != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q passed", text)
		}
		var code refusal
		if _, err := parseJobs(text); err != nil && !errors.As(err, &code) {
			t.Fatal(err)
		}
		g, err := parseGraph(text)
		if err != nil && !errors.As(err, &code) {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		for _, n := range g.nodes {
			tellAll(t, g, n)
		}
	})
}

func tellAll(t *testing.T, g *graph, n node) {
	t.Helper()
	for _, tell := range []func(*graph, node) ([]byte, error){whole, summary, neighbours, origins, excerpt} {
		answer, err := tell(g, n)
		if err != nil {
			t.Fatal(err)
		}
		var told struct {
			Excerpt string `json:"excerpt"`
		}
		if err := json.Unmarshal(answer, &told); err != nil || utf8.RuneCountInString(told.Excerpt) > maxExcerpt {
			t.Fatalf("%q: %v", answer, err)
		}
	}
	if found, err := g.find(n.id); err != nil || found.id != n.id {
		t.Fatalf("%s is not found: %v", n.id, err)
	}
}

func TestTheHostileInvestigationIsReadAsTextLikeAnyOther(t *testing.T) {
	w := specimen.Hostile()
	if err := checkText(w.Core); err != nil {
		t.Fatal(err)
	}
	g, err := parseGraph(w.Core)
	if err != nil || len(g.nodes) != len(specimen.HostileTexts()) {
		t.Fatalf("%v", err)
	}
	for i, n := range g.nodes {
		tellAll(t, g, n)
		if got := n.text("state"); got != specimen.HostileTexts()[i] {
			t.Errorf("state %q", got)
		}
	}
	if near := g.others(g.nodes[0], func(edge) bool { return true }); len(near) != len(g.nodes)-1 {
		t.Errorf("%d neighbours", len(near))
	}
	jobs, err := parseJobs(w.Jobs)
	if err != nil || len(jobs) != len(specimen.HostileTexts()) {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}
