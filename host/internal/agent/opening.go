package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// Skills knows what the operator wrote down for tasks of some kinds.
type Skills interface {
	// Choose picks the skills of a run, in a stable order, and returns the wanted names that are on none. wanted nil
	// leaves the choice to the question.
	Choose(question string, wanted *[]string) (chosen []run.Skill, unknown []string)
}

// opening is what a run's prompt begins with beside its request. It is kept in the first event, texts and all: a
// resumed run builds the same prompt, whatever other runs, skills and retention did meanwhile.
type opening struct {
	Memory []run.Message `json:"memory,omitempty"` // of earlier runs of the session
	Skills []run.Skill   `json:"skills,omitempty"`

	Profile string     `json:"profile,omitempty"` // that the run goes on with
	Usage   *run.Usage `json:"usage,omitempty"`   // of finding out which
}

// start is an opening and what the first event says about it.
type start struct {
	opening
	unknown []string // skills that were asked for and do not exist
	omitted []string // skills that were chosen and did not fit
	turns   []run.Turn
	outside int // turns that may know more than this run's scope allows
}

// begin writes the first event.
func (d *drive) begin(ctx context.Context, routed *run.Usage) error {
	begins, err := d.open(ctx)
	if err != nil {
		return err
	}
	begins.Profile, begins.Usage = d.profile.Name, routed
	event := d.startEvent(d.visible, begins)
	if len(begins.Memory) > 0 || len(begins.Skills) > 0 || begins.Profile != "" {
		if event.Memo, err = json.Marshal(begins.opening); err != nil {
			return fmt.Errorf("write memo: %w", err)
		}
	}
	return d.append(ctx, ledger.Batch{Events: []run.Event{event}})
}

// heardStart makes the opening part of the story.
func (s *story) heardStart(event run.Event) error {
	s.started = true
	if len(event.Memo) == 0 {
		return nil
	}
	if err := json.Unmarshal(event.Memo, &s.opening); err != nil {
		return fmt.Errorf("read opening: %w", err)
	}
	s.usage = sum(s.usage, s.opening.Usage)
	return nil
}

// open decides what the run begins with.
func (d *drive) open(ctx context.Context) (start, error) {
	var s start
	request := d.run.Request
	if d.cfg.Skills != nil && d.profile.Name == "" {
		var chosen []run.Skill
		chosen, s.unknown = d.cfg.Skills.Choose(request.Query(), request.Skills)
		s.Skills, s.omitted = fitting(chosen, d.cfg.SkillBytes)
	} else if request.Skills != nil {
		s.unknown = *request.Skills
	}
	if !request.SessionMemory {
		return s, nil
	}
	bounds := run.MemoryBounds{Turns: d.cfg.MemoryTurns, Bytes: d.cfg.MemoryBytes}
	turns, err := d.cfg.Ledger.Turns(ctx, d.run.SessionKey(), bounds)
	if err != nil {
		return start{}, fmt.Errorf("remember session: %w", err)
	}
	for _, turn := range turns {
		if !turn.Within(d.policy.Scope) {
			s.outside++
			continue
		}
		if messages := remembered(turn, bounds.Bytes); messages != nil {
			s.turns = append(s.turns, turn)
			s.Memory = append(s.Memory, messages...)
		}
	}
	return s, nil
}

// fitting keeps skills while their text fits. One that does not is left out whole: half a skill is none.
func fitting(chosen []run.Skill, room int) (kept []run.Skill, omitted []string) {
	for _, skill := range chosen {
		if len(skill.Body) > room {
			omitted = append(omitted, skill.Name)
			continue
		}
		room -= len(skill.Body)
		kept = append(kept, skill)
	}
	return kept, omitted
}

// remembered is a turn as messages; nothing when one side of it said nothing. A turn that is too long alone is cut in
// equal shares.
func remembered(turn run.Turn, most int) []run.Message {
	share := most
	if turn.Bytes() > most {
		share = most / (len(turn.Questions) + 1)
	}
	var messages []run.Message
	for _, question := range turn.Questions {
		if strings.TrimSpace(question) != "" {
			messages = append(messages, run.Message{Role: run.User, Content: shortened(question, share)})
		}
	}
	if len(messages) == 0 || strings.TrimSpace(turn.Answer) == "" {
		return nil
	}
	return append(messages, run.Message{Role: run.Assistant, Content: shortened(turn.Answer, share)})
}

// describe adds to the first event's metadata what the run begins with.
func (s start) describe(metadata map[string]any) {
	names, digests := []string{}, map[string]string{}
	for _, skill := range s.Skills {
		names = append(names, skill.Name)
		digests[skill.Name] = skill.Digest
	}
	metadata["skills"], metadata["ignored_skills"] = names, orEmpty(s.unknown)
	if len(digests) > 0 {
		metadata["skill_digests"] = digests
	}
	if len(s.omitted) > 0 {
		metadata["omitted_skills"] = s.omitted
	}
}

// describeMemory says which runs a run that remembers has in its prompt.
func (s start) describeMemory(metadata map[string]any) {
	runs, bytes := []string{}, 0
	for _, turn := range s.turns {
		runs = append(runs, turn.RunID)
	}
	for _, message := range s.Memory {
		bytes += len(message.Content)
	}
	metadata["session_memory"] = map[string]any{"run_ids": runs, "messages": len(s.Memory), "bytes": bytes, "outside_scope": s.outside}
}

// know is the part of the system words that the skills make up.
func (o opening) know() string {
	if len(o.Skills) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("The operator's instructions for tasks of some kinds follow. Use those that fit the question.")
	for _, skill := range o.Skills {
		fmt.Fprintf(&text, "\n\n## %s\n%s\n\n%s", skill.Name, skill.Description, skill.Body)
	}
	return text.String()
}
