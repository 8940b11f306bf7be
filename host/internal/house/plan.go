package house

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed floorplan.txt
var floorplan string

// testsRoom is the line of the plan that says what tests may use.
const testsRoom = "tests"

// Room is one line of the plan.
type Room struct {
	Path    string   // package path within the module
	Promise string   // what others may rely on
	Imports []string // package paths within the module
	Modules []string // third-party modules
	Line    int      // in the plan
}

// Plan is the floor plan by package path.
type Plan map[string]Room

// ReadPlan reads a floor plan. Lines that start with # are comments.
func ReadPlan(text string) (Plan, error) {
	plan := Plan{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			return nil, fmt.Errorf("floorplan.txt:%d: want path | promise | may import | third-party modules", i+1)
		}
		room := Room{
			Path: strings.TrimSpace(cells[0]), Promise: strings.TrimSpace(cells[1]),
			Imports: listed(cells[2]), Modules: listed(cells[3]), Line: i + 1,
		}
		if _, twice := plan[room.Path]; twice {
			return nil, fmt.Errorf("floorplan.txt:%d: %s is listed twice", i+1, room.Path)
		}
		plan[room.Path] = room
	}
	return plan, nil
}

// listed reads a cell: names between commas, or - for none.
func listed(cell string) []string {
	var names []string
	for _, name := range strings.Split(cell, ",") {
		if name = strings.TrimSpace(name); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}
