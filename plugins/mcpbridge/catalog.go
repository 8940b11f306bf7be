package mcpbridge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fastreact/fastreact/sdk"
)

const (
	maxTools       = 2000
	maxToolName    = 256
	maxDescription = 16 << 10
)

// catalog is what one server offers: the tools that work, and the names of those that were refused.
type catalog struct {
	tools       []sdk.NativeTool
	quarantined []string
	reasons     map[string]string // why, by raw name; for logs
}

// listedTool is one entry of tools/list. The schema stays as sent.
type listedTool struct {
	Name        string          `json:"name"`
	Description json.RawMessage `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// newCatalog reads the entries one by one: an odd one is quarantined and the others stay. A name that two entries
// share is quarantined altogether, since nobody knows which of them a call would reach.
func newCatalog(entries []json.RawMessage, spec Server, endpoint string, names aliases) catalog {
	c := catalog{reasons: map[string]string{}}
	seen := map[string]int{}
	for i, entry := range entries {
		tool, err := readTool(entry)
		label := cmp.Or(printable(tool.Name), fmt.Sprintf("#%d", i))
		if err == nil && i >= maxTools {
			err = fmt.Errorf("server offers more than %d tools", maxTools)
		}
		if seen[tool.Name]++; tool.Name != "" && seen[tool.Name] > 1 {
			err = fmt.Errorf("name is used by more than one tool")
			c.tools = slices.DeleteFunc(c.tools, func(t sdk.NativeTool) bool { return t.RawName == tool.Name })
		}
		if err != nil {
			c.quarantine(label, err.Error())
			continue
		}
		c.tools = append(c.tools, tool.native(spec, endpoint, names))
	}
	slices.SortFunc(c.tools, func(a, b sdk.NativeTool) int { return cmp.Compare(a.Name, b.Name) })
	slices.Sort(c.quarantined)
	return c
}

func (c *catalog) quarantine(label, reason string) {
	if _, known := c.reasons[label]; !known {
		c.quarantined = append(c.quarantined, label)
	}
	c.reasons[label] = reason
}

func readTool(entry json.RawMessage) (listedTool, error) {
	var tool listedTool
	if err := json.Unmarshal(entry, &tool); err != nil {
		var named struct {
			Name json.RawMessage `json:"name"`
		}
		_ = json.Unmarshal(entry, &named) // as much of the name as there is, to report it
		_ = json.Unmarshal(named.Name, &tool.Name)
		return tool, fmt.Errorf("entry is no tool")
	}
	switch {
	case tool.Name == "":
		return tool, fmt.Errorf("tool has no name")
	case len(tool.Name) > maxToolName || printable(tool.Name) != tool.Name:
		return tool, fmt.Errorf("tool has an unusable name")
	}
	return tool, checkSchema(tool.InputSchema)
}

func (t listedTool) native(spec Server, endpoint string, names aliases) sdk.NativeTool {
	var description string
	if json.Unmarshal(t.Description, &description) != nil || description == "" {
		description = spec.Description
	}
	return sdk.NativeTool{
		Name:        names.name(spec.Name, t.Name),
		Server:      spec.Name,
		RawName:     t.Name,
		Description: strings.ToValidUTF8(clip(description, maxDescription), ""),
		InputSchema: t.InputSchema,
		Scope:       spec.Scope,
		TrustedText: spec.TrustedText,
		Endpoint:    endpoint,
	}
}

// printable drops what must not reach a log or a page: control characters and broken UTF-8.
func printable(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, name)
	return clip(clean, maxToolName)
}
