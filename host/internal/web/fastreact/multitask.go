package fastreact

import (
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// readMultitask reads what the run does while another of its session is not finished. The body or its metadata may say
// it, but not differently.
func readMultitask(fields, metadata web.Fields) run.Multitask {
	words := []string{string(run.Parallel), string(run.Reject), string(run.Enqueue), string(run.Interrupt)}
	body, inside := fields.OneOf("multitask", words...), metadata.OneOf("multitask", words...)
	switch {
	case body == "":
		return run.Multitask(inside)
	case inside != "" && inside != body:
		fields.Fault("value_error", "The body and its metadata name different values", "multitask")
	}
	return run.Multitask(body)
}
