package agent

import (
	"context"
	"time"

	"github.com/fastreact/fastreact/host/internal/release"
)

// Profile is a kind of run: what its model is told, which tools it has, and how its answer leaves. The agent knows no
// profile by name.
type Profile struct {
	Name          string
	System        string   // the model's instructions, in place of the agent's own
	Router        Router   // names the profile that a run goes on with; nil: this one
	Tools         []string // registered names that it may use; none means no tools
	MaxIterations int      // model calls with tools in one run; 0: the agent's
	MaxToolCalls  int      // in one run; 0: the agent's
	Exit          Exit     // decides whether an answer leaves; nil: the agent's own look through it

	Models       Slots         // where the model is asked; nil: on the run's own goroutine
	ToolSlots    Slots         // where tools run; nil: likewise
	ModelTimeout time.Duration // of one model call, with its wait for a slot; 0: none but the run's
	ToolTimeout  time.Duration // of one tool call, when shorter than the gate's; 0: the gate's
}

// Router tells which profile a question is for.
type Router interface {
	// Route is called once, before a run's first event. ask puts a question to the model, without tools. An error
	// ends the run.
	Route(ctx context.Context, ask Ask, question string) (profile string, err error)
}

// Ask puts one question to the model under the system words.
type Ask = func(ctx context.Context, system, question string) (string, error)

// Exit is the one way out for the answers of a profile: what it does not release never leaves.
type Exit interface {
	// Judge says what becomes of a draft. It is asked again about the same draft when a run is resumed.
	Judge(ctx context.Context, draft release.Draft) release.Ruling
	// Repairs is how often the model may write a draft again that was not released.
	Repairs() int
	// Fallback is what leaves when no draft was released.
	Fallback() string
}

// Slots run work when there is room for it.
type Slots interface {
	// Do runs the task and returns its error. It returns executor.ErrSaturated at once when there is no room, and the
	// cause of ctx as soon as that ends, whatever the task still does then.
	Do(ctx context.Context, task func(ctx context.Context) error) error
}
