package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

const (
	previewBytes = 400 // of an older result
	leastBytes   = 400 // of each result of the newest step, however many there are
)

// The methods of a compaction, gentlest first.
const (
	byPreview = "previews"       // results of earlier steps are shown by their beginning
	bySummary = "summary"        // what is older than the newest step is told by the model in short
	byDrop    = "dropped"        // the oldest turns and steps are left out
	byShare   = "newest_results" // results of the newest step are shown by their beginning
)

var errContext = &run.Error{
	Code: run.CodeContextTooLarge, Op: "fit conversation",
	Sentence: "The conversation is larger than this service passes to its model. A shorter question may help.",
}

// fit makes the conversation small enough for the model and writes an event that says how. The system words, the
// question and the order of calls and results are never touched, and the newest step is only when it alone is too
// large. A run whose question is too large ends.
func (d *drive) fit(ctx context.Context) (ended bool, err error) {
	p := d.planner()
	before := p.size()
	if before <= p.limit {
		return false, nil
	}
	p.preview()
	if p.size() > p.limit {
		if err := d.leaveOut(ctx, p); err != nil {
			return false, err
		}
	}
	if p.size() > p.limit {
		p.share()
	}
	if p.size() > p.limit {
		return true, d.fail(ctx, errContext)
	}
	event, err := p.event(before)
	if err != nil {
		return false, err
	}
	event.Metadata = with(event.Metadata, "through_sequence", d.story.sequence(p.last()-p.own))
	return false, d.append(ctx, ledger.Batch{Events: []run.Event{event}})
}

// planner works out a compaction.
type planner struct {
	talk
	was    compaction
	plan   compaction
	fixed  int // bytes of the system words
	limit  int // bytes
	method string
	usage  *run.Usage // of a summary
}

func (d *drive) planner() *planner {
	p := &planner{talk: d.talk(), was: d.story.compaction, plan: d.story.compaction, limit: d.cfg.ContextBytes}
	p.plan.Limits = maps.Clone(p.was.Limits)
	p.fixed = sizeOf(d.system())
	return p
}

func (p *planner) size() int { return p.fixed + sizeOf(p.shown(p.plan)) }

// shownSize is how many bytes of a message are shown.
func (p *planner) shownSize(place int) int {
	return sizeOf([]run.Message{p.bounded(p.plan, place)})
}

// goal is where the gentler methods stop, so that the next step does not need another compaction at once.
func (p *planner) goal() int { return p.limit / 4 * 3 }

// preview shortens results of earlier steps, oldest first.
func (p *planner) preview() {
	size := p.size()
	for place := range p.newest {
		if size <= p.goal() {
			return
		}
		if p.messages[place].Role != run.ToolRole || !p.keeps(p.plan, place) {
			continue
		}
		saved := p.cut(place, previewBytes)
		if saved > 0 {
			size, p.method = size-saved, byPreview
		}
	}
}

// cut bounds what is shown of a result and returns how many bytes that saves.
func (p *planner) cut(place, limit int) (saved int) {
	if known, cut := p.plan.Limits[place]; cut && known <= limit {
		return 0
	}
	if longest(p.messages[place]) <= limit {
		return 0
	}
	before := p.shownSize(place)
	if p.plan.Limits == nil {
		p.plan.Limits = map[int]int{}
	}
	p.plan.Limits[place] = limit
	return before - p.shownSize(place)
}

// drop leaves out the oldest turns and steps, a call always with its results.
func (p *planner) drop() {
	from, size := p.plan.Before, p.size()
	for place := from; place < p.newest; place++ {
		if !p.stays(place) {
			size -= p.shownSize(place)
		}
		if p.messages[place+1].Role == run.ToolRole {
			continue
		}
		p.plan.Before = place + 1
		if size <= p.goal() {
			break
		}
	}
	if p.plan.Before > from {
		p.method = byDrop
		p.plan.Note = dropNote(p.was.Note)
	}
}

// share bounds the results of the newest step to equal parts of the room there is. Where there is no room at all,
// because the model wrote arguments that fill it, they are shown by their beginning.
func (p *planner) share() {
	var results []int
	room := p.limit - p.size()
	for place := p.newest; place < len(p.messages); place++ {
		if p.messages[place].Role == run.ToolRole {
			results = append(results, place)
			room += p.shownSize(place)
		}
	}
	if len(results) == 0 {
		return
	}
	p.method = byShare
	if room/len(results) < leastBytes+p.tail(results[0]) {
		room += p.cut(p.newest, leastBytes)
	}
	for _, place := range results {
		p.cut(place, max(room/len(results)-p.tail(place), leastBytes))
	}
}

// compacted counts the messages that the model sees shorter than before, or no longer.
func (p *planner) compacted() (count int) {
	for place := range p.messages {
		if p.touched(place) {
			count++
		}
	}
	return count
}

func (p *planner) touched(place int) bool {
	return p.keeps(p.was, place) && !p.keeps(p.plan, place) || p.was.Limits[place] != p.plan.Limits[place]
}

// last is the place of the last message that changed.
func (p *planner) last() int {
	for place := len(p.messages) - 1; place >= 0; place-- {
		if p.touched(place) {
			return place
		}
	}
	return -1
}

// event tells of the compaction, and is where the run remembers it.
func (p *planner) event(before int) (run.Event, error) {
	memo, err := json.Marshal(p.plan)
	if err != nil {
		return run.Event{}, fmt.Errorf("write memo: %w", err)
	}
	metadata := map[string]any{
		"compacted_messages": p.compacted(), "bytes_before": before, "bytes_after": p.size(), "method": p.method,
	}
	if p.method == bySummary || p.usage != nil {
		metadata["llm_usage"] = p.usage
	}
	return run.Event{
		Kind: run.Compaction, Memo: memo, Metadata: object(metadata),
		Content: "The conversation grew long: the model now sees older parts of it in short.",
	}, nil
}

// heardCompaction makes a compaction part of the story.
func (s *story) heardCompaction(event run.Event) error {
	var said struct {
		Usage *run.Usage `json:"llm_usage"`
	}
	s.compaction = compaction{}
	if err := json.Unmarshal(event.Memo, &s.compaction); err != nil {
		return fmt.Errorf("read memo: %w", err)
	}
	if err := json.Unmarshal(event.Metadata, &said); err != nil {
		return fmt.Errorf("read compaction: %w", err)
	}
	s.usage = sum(s.usage, said.Usage)
	return nil
}

// sequence is the event that a message of this run came from; nil for a message that came with the request.
func (s *story) sequence(place int) any {
	if place < 0 || place >= len(s.sources) {
		return nil
	}
	return s.sources[place].sequence
}
