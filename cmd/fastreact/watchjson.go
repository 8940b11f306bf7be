package main

import (
	"encoding/json"
	"fmt"

	"github.com/fastreact/fastreact/sdk/client"
)

// withRaw gives each approval of a page its own JSON.
func withRaw(page *client.Approvals) error {
	var list struct {
		Approvals []json.RawMessage `json:"approvals"`
	}
	if err := json.Unmarshal(page.Raw, &list); err != nil {
		return fmt.Errorf("read approvals: %w", err)
	}
	for i := range min(len(page.Items), len(list.Approvals)) {
		page.Items[i].Raw = list.Approvals[i]
	}
	return nil
}

// sayJSON announces one approval as one line of JSON that is safe on a screen.
func (w *watching) sayJSON(event string, a client.Approval) {
	raw := a.Raw
	var holder struct {
		Approval json.RawMessage `json:"approval"`
	}
	if json.Unmarshal(raw, &holder) == nil && holder.Approval != nil {
		raw = holder.Approval
	}
	line, err := json.Marshal(map[string]any{"event": event, "approval": raw})
	if err != nil {
		fmt.Fprintf(w.errs, "fastreact: %s\n", onScreen(err.Error()))
		return
	}
	fmt.Fprintln(w.out, asciiJSON(line))
}
