package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/fastreact/fastreact/sdk/client"
)

// resultPreview is how much of a tool's result a person sees.
const resultPreview = 400

// display prints a run's events for people, or as one line of JSON each.
type display struct {
	out    io.Writer
	asJSON bool

	answer string // content of the final answer
	parts  bool   // the answer was shown in parts
	failed bool   // the run ended with an error
	ended  bool
}

func (d *display) event(e client.Event) {
	if e.Terminal() {
		d.ended, d.failed, d.answer = true, e.Type == "error", e.Content
	}
	if d.asJSON {
		fmt.Fprintln(d.out, asciiJSON(bytes.TrimSpace(e.Raw)))
		return
	}
	if part, is := e.Part(); is {
		d.part(part)
		return
	}
	if line := d.line(e); line != "" {
		fmt.Fprintln(d.out, line)
	}
}

// part shows a part of the answer behind the last one.
func (d *display) part(text string) {
	if !d.parts {
		fmt.Fprintln(d.out)
	}
	d.parts = true
	fmt.Fprint(d.out, onScreenLines(text))
}

// line says in words what happened, or nothing when a person need not know.
func (d *display) line(e client.Event) string {
	switch e.Type {
	case "session_start":
		return fmt.Sprintf("run %s in session %s", onScreen(e.RunID), onScreen(e.SessionID))
	case "think", "compaction":
		return "  · " + onScreenLines(e.Content)
	case "tool_call":
		return fmt.Sprintf("  → %s %s", onScreen(e.ToolName), onScreen(compact(e.ToolArgs)))
	case "tool_result":
		return fmt.Sprintf("  ← %s %s", onScreen(e.ToolName), onScreen(cut(e.Content, resultPreview)))
	case "ask_user":
		return d.question(e)
	case "tool_progress":
		return d.progress(e)
	case "answer_review":
		return d.review(e)
	case "session_end":
		return d.end(onScreenLines(e.Content))
	case "error":
		return "\nThe run failed: " + onScreenLines(e.Content)
	}
	return ""
}

// end closes an answer that was shown in parts, or shows it.
func (d *display) end(answer string) string {
	if d.parts {
		fmt.Fprintln(d.out)
		return ""
	}
	return "\n" + answer
}

// progress is a sign of life of a tool, on one line.
func (d *display) progress(e client.Event) string {
	var about struct {
		Done  *float64 `json:"done"`
		Total *float64 `json:"total"`
	}
	how := ""
	if json.Unmarshal(e.Metadata, &about) == nil && about.Done != nil {
		how = fmt.Sprintf(" %g", *about.Done)
		if about.Total != nil {
			how += fmt.Sprintf(" of %g", *about.Total)
		}
	}
	return fmt.Sprintf("  … %s%s %s", onScreen(e.ToolName), how, onScreen(cut(e.Content, resultPreview)))
}

// review says where an answer is that does not leave before it was looked at.
func (d *display) review(e client.Event) string {
	var about struct {
		Stage string `json:"stage"`
	}
	if json.Unmarshal(e.Metadata, &about) == nil && about.Stage == "repairing" {
		return "  · The answer is written again"
	}
	return "  · The answer is looked at before it leaves"
}

func (d *display) question(e client.Event) string {
	var about struct {
		ExpiresAt *time.Time `json:"expires_at"`
		Choices   []string   `json:"choices"`
	}
	until := ""
	if json.Unmarshal(e.Metadata, &about) == nil && about.ExpiresAt != nil {
		until = " before " + moment(about.ExpiresAt)
	}
	return fmt.Sprintf("  ? %s %s needs a person: %s\n%s", onScreen(e.ToolName), onScreen(compact(e.ToolArgs)),
		onScreen(e.Content), howToAnswer("    ", until, onScreen(e.ApprovalRequestID), about.Choices))
}

// verdict is the exit of a command that followed a run.
func (d *display) verdict() error {
	if d.failed || !d.ended {
		return errQuiet
	}
	return nil
}
