package fastreact

import (
	"encoding/json"
	"slices"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// Profile bounds a kind of run: one whose metadata names its caller or its purpose. A request can raise or lower the
// budget, but shows no tool that the profile hides.
type Profile struct {
	Caller, Purpose string
	Hidden          []string       // registered or raw names of tools
	Budget          map[string]int // calls of a tool in one run, by registered name
}

// maxBudget is the highest number of calls a request can name.
const maxBudget = 1_000_000

// readBounds reads what a run may do: its tool_policy, metadata.tool_budget, and the profiles that it falls under.
func (f *face) readBounds(fields, metadata web.Fields) run.ToolPolicy {
	bounds := f.readToolPolicy(fields)
	for _, profile := range f.cfg.Profiles {
		if metadata.Raw("caller") != profile.Caller && metadata.Raw("purpose") != profile.Purpose {
			continue
		}
		bounds.Hidden = append(slices.Clone(bounds.Hidden), profile.Hidden...)
		for tool, calls := range profile.Budget {
			bounds.Budget = budgeted(bounds.Budget, tool, calls)
		}
	}
	asked := metadata.Inside("tool_budget")
	for tool, value := range asked.Object() {
		calls, ok := count(value)
		if !ok {
			asked.Fault("value_error", "Input should be a whole number of calls from 0 to 1000000", tool)
			continue
		}
		bounds.Budget = budgeted(bounds.Budget, tool, calls)
	}
	return bounds
}

func budgeted(budget map[string]int, tool string, calls int) map[string]int {
	if budget == nil {
		budget = map[string]int{}
	}
	budget[tool] = calls
	return budget
}

func count(value any) (calls int, ok bool) {
	written, isNumber := value.(json.Number)
	if !isNumber {
		return 0, false
	}
	number, err := written.Int64()
	return int(number), err == nil && number >= 0 && number <= maxBudget
}
