package localagent

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/gateway"
	"github.com/fastreact/fastreact/host/internal/run"
)

// script plays the model of the demonstration: it looks for the objective, reads what it finds first, prepares a
// research of it, and ends when a person has decided. What it was told is all that it knows; the objective and the
// results select objects, never steps.
type script struct{}

// stuck is the fixed sentence of a script that has no way on.
type stuck string

// Error is the sentence.
func (s stuck) Error() string { return string(s) }

// told is what a script reads in the document of a result.
type told struct {
	State  gateway.State `json:"state"`
	Output struct {
		Matches []struct {
			ObjectID string `json:"object_id"`
		} `json:"matches"`
		Actions []struct {
			Contacted bool `json:"contacted"`
		} `json:"actions"`
	} `json:"output"`
}

// Complete answers with the next step. It contacts nobody and keeps nothing.
func (script) Complete(_ context.Context, messages []Message) (string, error) {
	objective, steps, last, err := follow(messages)
	if err != nil {
		return "", err
	}
	if len(steps) == 0 {
		return step("investigation.search", map[string]any{"query": objective}), nil
	}
	previous := steps[len(steps)-1]
	if last.State != gateway.Completed {
		return "", stuck("A step of the demonstration did not complete.")
	}
	if len(steps) == 1 {
		if len(last.Output.Matches) == 0 {
			return "", stuck("No object of the workspace matches the objective.")
		}
		return step("graph.get_node", map[string]any{"object_id": last.Output.Matches[0].ObjectID}), nil
	}
	switch previous.ToolID {
	case "graph.get_node":
		return step("graph.get_neighbors", map[string]any{"object_id": previous.Arguments.ObjectID}), nil
	case "graph.get_neighbors":
		return step("provenance.trace", map[string]any{"object_id": previous.Arguments.ObjectID}), nil
	case "provenance.trace":
		return step("research.prepare", map[string]any{
			"selection_ids": []string{previous.Arguments.ObjectID}, "question": objective, "exclusions": []string{},
		}), nil
	}
	return action{text: closing(last)}.encode(), nil
}

// closing counts what the state of the research says.
func closing(last told) string {
	contacted := 0
	for _, one := range last.Output.Actions {
		if one.Contacted {
			contacted++
		}
	}
	return fmt.Sprintf("A person has decided. The research was read again: %d actions, %d contacts.", len(last.Output.Actions), contacted)
}

// taken is a step that was taken.
type taken struct {
	ToolID    string `json:"tool_id"`
	Arguments struct {
		ObjectID string `json:"object_id"`
	} `json:"arguments"`
}

// follow reads the conversation: the objective, the steps, and what came of the last one.
func follow(messages []Message) (objective string, steps []taken, last told, err error) {
	for i, message := range messages {
		switch {
		case i == 1:
			var document objectiveDocument
			err = json.Unmarshal([]byte(message.Content), &document)
			objective = document.Objective
		case message.Role == Assistant:
			var one taken
			err = json.Unmarshal([]byte(message.Content), &one)
			steps = append(steps, one)
		case i > 1:
			var document resultDocument
			if err = json.Unmarshal([]byte(message.Content), &document); err == nil {
				last = told{}
				err = json.Unmarshal(document.Result, &last)
			}
		}
		if err != nil {
			return "", nil, told{}, fmt.Errorf("follow the demonstration: %w", err)
		}
	}
	return objective, steps, last, nil
}

func step(tool string, arguments map[string]any) string {
	return action{tool: tool, arguments: run.EncodeOwn(arguments)}.encode()
}
