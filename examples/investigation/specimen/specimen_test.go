package specimen

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func graphOf(t *testing.T, w Workspace) graph {
	t.Helper()
	var g graph
	if err := json.Unmarshal(w.Core, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestTheInvestigationsShareNoObject(t *testing.T) {
	seen := map[string]string{}
	for name, w := range map[string]Workspace{"harbour": Harbour(), "observatory": Observatory(), "hostile": Hostile()} {
		for _, n := range graphOf(t, w).Nodes {
			if other := seen[n.ID]; other != "" {
				t.Errorf("%s is in %s and %s", n.ID, other, name)
			}
			seen[n.ID] = name
		}
	}
}

func TestEveryKindOfObjectAndEdgeOccurs(t *testing.T) {
	for _, w := range []Workspace{Harbour(), Observatory(), Hostile()} {
		objects, edges := map[string]bool{}, map[string]bool{}
		g := graphOf(t, w)
		for _, n := range g.Nodes {
			objects[n.ObjectKind] = true
		}
		for _, e := range g.Edges {
			edges[e.Kind] = true
		}
		got := [][]string{slices.Sorted(maps.Keys(objects)), slices.Sorted(maps.Keys(edges))}
		want := [][]string{
			{"entity", "evidence", "execution", "extraction", "observation"},
			{"business", "contradiction", "provenance", "support"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

func TestOnlyInTheHostileInvestigationAnEdgeLeadsNowhere(t *testing.T) {
	for lost, w := range map[int]Workspace{0: Harbour(), 1: Hostile()} {
		g := graphOf(t, w)
		known := map[string]bool{}
		for _, n := range g.Nodes {
			known[n.ID] = true
		}
		for _, e := range g.Edges {
			if !known[e.Source] || !known[e.Target] {
				lost--
			}
		}
		if lost != 0 {
			t.Errorf("%d edges too few lead nowhere", lost)
		}
	}
}

func TestWritingReplacesWhatWasThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "workspace")
	for _, w := range []Workspace{Harbour(), Hostile()} {
		if err := Write(dir, w); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string][]byte{CoreName: w.Core, JobsName: w.Jobs} {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != string(want) {
				t.Errorf("%s: %v, %d bytes", name, err, len(got))
			}
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 2 {
		t.Errorf("the folder holds %v", left)
	}
}
