package release

import (
	"context"
	"time"
)

// Canonical bounds the evidence of one run. Evidence above a bound rejects the draft; nothing is ever left out.
type Canonical struct {
	TTL      time.Duration // since the result that holds the evidence was stored
	MaxItems int
	MaxBytes int // of all items, as canonical JSON
}

// ExitConfig is what an exit is made of.
type ExitConfig struct {
	Kind            ContentType // ContentReport or ContentAnswer
	Guards          Guards
	Repairs         int // model rounds after a rejected draft
	Canonical       Canonical
	MaxContentBytes int      // of a released answer, as it is stored
	Private         []string // prompts: no longer run of their words may leave
}

// Exit is the one way out for answers of a profile.
type Exit struct{ cfg ExitConfig }

// NewExit returns the exit of a configuration, whose limits its owner has checked.
func NewExit(cfg ExitConfig) *Exit { return &Exit{cfg} }

// Repairs returns how often a rejected draft goes back to the model.
func (e *Exit) Repairs() int { return e.cfg.Repairs }

// Fallback returns what leaves instead of an answer: the same bytes whatever rejected the draft.
func (e *Exit) Fallback() string { return fallback }

const fallback = `{"content_type":"FALLBACK","payload":{"text":"No answer could be confirmed, so none is given. Please ask again, or ask for something narrower."}}`

// Judge says whether a draft leaves, and as what.
func (e *Exit) Judge(context.Context, Draft) Ruling { return Ruling{} }
