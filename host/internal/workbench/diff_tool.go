package workbench

import (
	"fmt"

	"github.com/fastreact/fastreact/sdk"
)

// tools compares what a tool plugin offers to the model.
func (d *diff) tools(before, after []sdk.ToolSpec) {
	old, now := toolsByName(before), toolsByName(after)
	for _, name := range union(old, now) {
		was, had := old[name]
		is, has := now[name]
		switch {
		case !had:
			d.add(Change{Widens, "tool", "tools." + name, "", name, "the model may call a tool that was not there"})
		case !has:
			d.add(Change{Narrows, "tool", "tools." + name, name, "", "the tool is gone"})
		default:
			d.tool(was, is)
		}
	}
}

func (d *diff) tool(before, after sdk.ToolSpec) {
	where := "tools." + before.Name
	if before.Description != after.Description {
		d.add(Change{Neutral, "description", where + ".description", before.Description, after.Description, "the model reads it: read it too"})
	}
	if before.Scope != after.Scope {
		c := Change{Widens, "tool", where + ".scope", fmt.Sprint(before.Scope), fmt.Sprint(after.Scope), "a run's scope no longer bounds its arguments"}
		if after.Scope {
			c.Effect, c.Why = Narrows, "a run's scope bounds its arguments now"
		}
		d.add(c)
	}
	if was, is := string(asJSON(before.Extism)), string(asJSON(after.Extism)); was != is {
		d.add(Change{Widens, "tool", where + ".extism", was, is, "another function of the module answers, or is asked otherwise"})
	}
	for _, c := range compareSchemas(before.InputSchema, after.InputSchema) {
		c.What = "schema"
		c.Where = within(where+".input_schema", c.Where)
		d.add(c)
	}
}

func toolsByName(list []sdk.ToolSpec) map[string]sdk.ToolSpec {
	named := map[string]sdk.ToolSpec{}
	for _, tool := range list {
		named[tool.Name] = tool
	}
	return named
}
