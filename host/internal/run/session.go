package run

import (
	"slices"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// SessionKey names one conversation: the session of one user of one tenant. The same session id of another user or
// tenant is another conversation; runs without a user share their tenant's one without a name.
type SessionKey struct {
	Tenant    TenantKey
	UserKey   string
	SessionID string
}

// SessionKey names the conversation that the run belongs to.
func (r Run) SessionKey() SessionKey {
	return SessionKey{Tenant: r.Tenant, UserKey: r.Request.Identity.UserKey, SessionID: r.SessionID}
}

// Turn is what a completed run adds to its conversation.
type Turn struct {
	RunID     string
	Questions []string // the user messages that the run was asked with last, in order
	Answer    string
	Scope     *sdk.Scope // the corpus that the run was bound to; nil when it was not
	At        time.Time  // when the run completed
}

// Within reports whether the turn knows nothing from outside the corpus that another run is bound to.
func (t Turn) Within(bound *sdk.Scope) bool {
	switch {
	case bound == nil:
		return true
	case t.Scope == nil, t.Scope.Mode == sdk.Soft && bound.Mode != sdk.Soft: // nobody looked through its results
		return false
	}
	return inside(t.Scope.KnowledgeBaseIDs, bound.KnowledgeBaseIDs) &&
		inside(t.Scope.SourceItemIDs, bound.SourceItemIDs)
}

// inside reports whether every id is one of the bound. nil bounds nothing.
func inside(ids, bound []string) bool {
	if bound == nil {
		return true
	}
	within := make(map[string]bool, len(bound))
	for _, id := range bound {
		within[id] = true
	}
	return ids != nil && !slices.ContainsFunc(ids, func(id string) bool { return !within[id] })
}

// Bytes is how much text the turn holds.
func (t Turn) Bytes() int {
	size := len(t.Answer)
	for _, question := range t.Questions {
		size += len(question)
	}
	return size
}

// Turn is the run's part of its conversation: its last user messages without the history before them, and its answer.
func (r Run) Turn() Turn {
	turn := Turn{RunID: r.ID, Questions: r.Request.lastQuestions(), Answer: r.Outcome.Answer, Scope: r.Request.ToolPolicy.Scope}
	if r.FinishedAt != nil {
		turn.At = *r.FinishedAt
	}
	return turn
}

// lastQuestions are the user messages that end with the query, back to the turn of anybody else but the system.
func (r Request) lastQuestions() []string {
	var questions []string
	for i := len(r.Messages) - 1; i >= 0; i-- {
		message := r.Messages[i]
		switch {
		case message.Role == User:
			questions = append([]string{message.Content}, questions...)
		case message.Role != System && len(questions) > 0:
			return questions
		}
	}
	return questions
}

// MemoryBounds say how much of a conversation is remembered: at most so many turns with so many bytes of text.
type MemoryBounds struct{ Turns, Bytes int }

// Multitask says what a second run of one conversation does while an earlier one is not over.
type Multitask string

// What a second run may do.
const (
	Parallel  Multitask = "parallel"  // run beside it
	Reject    Multitask = "reject"    // be refused with CodeSessionBusy
	Enqueue   Multitask = "enqueue"   // wait until it is over
	Interrupt Multitask = "interrupt" // cancel it and wait until it is over
)

// Waits reports whether the run does not begin before the earlier ones are over.
func (m Multitask) Waits() bool { return m == Enqueue || m == Interrupt }

// OrDefault is what was asked for, else what goes with the request: runs that remember follow one another, others
// run side by side.
func (m Multitask) OrDefault(sessionMemory bool) Multitask {
	switch {
	case m != "":
		return m
	case sessionMemory:
		return Enqueue
	}
	return Parallel
}
