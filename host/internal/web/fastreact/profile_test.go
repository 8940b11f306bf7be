package fastreact

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

func bounded(t *testing.T, metadata string) (run.ToolPolicy, error) {
	t.Helper()
	decoded, refusal := web.DecodeObject([]byte(`{"messages":[{"role":"user","content":"q"}],"metadata":` + metadata + `}`))
	if refusal != nil {
		t.Fatal(refusal)
	}
	f := &face{Config{ParseToolPolicy: parseAny, Profiles: []Profile{
		{Caller: "worker", Purpose: "digest", Hidden: []string{"exec"}, Budget: map[string]int{"write": 1, "read": 1}},
	}}}
	asked, err := f.parseRequest(decoded, web.Behalf{})
	return asked.request.ToolPolicy, err
}

func TestMetadataSaysWhatARunMayDo(t *testing.T) {
	once := map[string]int{"write": 1, "read": 1}
	for metadata, want := range map[string]run.ToolPolicy{
		`{"purpose":"qa"}`:                                    {},
		`{"purpose":"digest"}`:                                {Hidden: []string{"exec"}, Budget: once},
		`{"caller":"worker"}`:                                 {Hidden: []string{"exec"}, Budget: once},
		`{"purpose":"digest","tool_budget":{"write":3}}`:      {Hidden: []string{"exec"}, Budget: map[string]int{"write": 3, "read": 1}},
		`{"purpose":"qa","tool_budget":{"search":0}}`:         {Budget: map[string]int{"search": 0}},
		`{"caller":"worker","tool_budget":{"write":1,"x":2}}`: {Hidden: []string{"exec"}, Budget: map[string]int{"write": 1, "read": 1, "x": 2}},
	} {
		got, err := bounded(t, metadata)
		if err != nil {
			t.Errorf("%s: %v", metadata, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", metadata, diff)
		}
	}
}

func TestABudgetThatIsNoNumberOfCallsIsRefused(t *testing.T) {
	for _, budget := range []string{`7`, `{"write":-1}`, `{"write":"1"}`, `{"write":1.5}`, `{"write":1000001}`, `{"write":null}`} {
		if _, err := bounded(t, `{"tool_budget":`+budget+`}`); err == nil {
			t.Errorf("%s was taken", budget)
		}
	}
}
