package wasm

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/wasm/pool"
	"github.com/fastreact/fastreact/sdk"
)

// Mode says how calls are kept apart.
type Mode string

// The two modes. The empty one means the default of the kind: snapshot for what is pure, fresh for tools.
const (
	ModeSnapshot Mode = "snapshot" // instances are lent, and restored to their state after the warm-up
	ModeFresh    Mode = "fresh"    // every call gets an instance of its own
)

// linger is how long an idle instance stays that a burst left behind.
const linger = 30 * time.Second

// open opens the pool of instances.
func (p *Plugin) open() {
	config := pool.Config[*instance]{
		Most: p.limits.Leases, Least: 1, Queue: p.host.config.Waiting, Linger: linger,
		Make: p.bear, Discard: (*instance).close,
	}
	if p.mode == ModeSnapshot {
		config.Restore, config.Quick = p.restore, p.image.memory.Quick()
	}
	p.pool = pool.New(config)
}

func (p *Plugin) restore(i *instance) error {
	if p.host.budget.pressed() {
		return errPressed // somebody waits for its memory
	}
	if p.leak != nil {
		return p.leak(i)
	}
	return p.image.restore(i)
}

var errPressed = fail(run.PluginBusy, "memory is short")

// rehearse starts the module once, makes sure that it does, and learns what its instances look like when they are lent.
func (p *Plugin) rehearse(ctx context.Context) error {
	i := &instance{}
	defer func() { i.close() }()
	if !p.manifest.Kind.Pure() {
		files, closeFiles, err := openMounts(p.mounts, CallContext{})
		if err != nil {
			return err
		}
		defer closeFiles()
		ctx, cancel := withWall(ctx, p.limits.Wall)
		defer cancel()
		return p.begin(ctx, func(ctx context.Context, v *visit) error {
			return p.engine.start(ctx, i, toolWorld(ctx).WithFSConfig(files), v)
		}, i)
	}
	if err := p.startPure(ctx, i); err != nil {
		return err
	}
	lent := i.state()
	if first, ok := p.warmUp(ctx, i); ok && p.makeRoom(ctx, i) {
		warm := i.state()
		// An answer that shows that there was a question before is no warm-up, it is a memory.
		again, ok := p.warmUp(ctx, i)
		if p.warm = ok && equalAnswers(first, again); p.warm {
			lent = warm
		}
	}
	if p.mode == ModeSnapshot {
		p.image = lent.picture()
	}
	return nil
}

// begin runs the beginning of an instance's life as a visit of its own.
func (p *Plugin) begin(ctx context.Context, work func(context.Context, *visit) error, i *instance) error {
	v := p.visit(ctx, CallContext{})
	defer func() { v.log.flush(v.broken) }()
	ctx = withVisit(ctx, v)
	_, err := i.guard(ctx, v, func() ([]byte, error) { return nil, work(ctx, v) })
	return err
}

func (p *Plugin) startPure(ctx context.Context, i *instance) error {
	i.world = &pureWorld{}
	return p.begin(ctx, func(ctx context.Context, v *visit) error {
		return p.engine.start(ctx, i, i.world.config(), v)
	}, i)
}

// bear makes an instance for the pool: from the picture, or by the way of rehearse; a tool's is started by its call.
func (p *Plugin) bear(ctx context.Context) (*instance, error) {
	i := &instance{}
	var err error
	switch {
	case p.image != nil:
		err = p.develop(ctx, i)
	case p.manifest.Kind.Pure():
		if err = p.startPure(ctx, i); err == nil && p.warm {
			p.warmUp(ctx, i)
			p.makeRoom(ctx, i)
		}
	}
	if err != nil {
		i.close()
		return nil, err
	}
	return i, nil
}

// develop makes an instance that looks like the picture. Of the module only its start function runs.
func (p *Plugin) develop(ctx context.Context, i *instance) error {
	i.world = &pureWorld{}
	return p.begin(ctx, func(ctx context.Context, v *visit) error {
		if err := p.engine.place(ctx, i, i.world.config(), v); err != nil {
			return err
		}
		return p.image.lay(i)
	}, i)
}

// warmUp asks what a plugin of this kind is asked, so that what is made once is made. ok is false when the guest ended
// abnormally or did something that cannot be undone; such an instance is of no use.
func (p *Plugin) warmUp(ctx context.Context, i *instance) (answers [][]byte, ok bool) {
	for _, w := range warmUps(p.manifest.Kind) {
		v := p.visit(ctx, CallContext{})
		if latest := time.Now().Add(warmUpWall); latest.Before(v.meter.deadline) {
			v.meter.deadline = latest
		}
		answer, err := i.exchange(withVisit(ctx, v), v, w.op, w.input)
		if v.broken || v.touched {
			return nil, false
		}
		if err != nil {
			answer = []byte(err.Error())
		}
		answers = append(answers, answer)
	}
	return answers, true
}

// makeRoom lets a guest set room aside for the next input. It returns false when the instance is of no use any more.
func (p *Plugin) makeRoom(ctx context.Context, i *instance) bool {
	v := p.visit(ctx, CallContext{})
	ctx = withVisit(ctx, v)
	_, _ = i.guard(ctx, v, func() (none []byte, err error) { // the visit knows how it ended
		i.room, err = i.speaker.reserve(ctx)
		return none, err
	})
	return !v.broken && !v.touched
}

func equalAnswers(a, b [][]byte) bool {
	for n := range a {
		if !bytes.Equal(a[n], b[n]) {
			return false
		}
	}
	return true
}

// warmUpWall bounds each question of a warm-up. A guest that may take longer for a call is not waited for when it is
// loaded: it goes to work cold.
const warmUpWall = 2 * time.Second

type warmUp struct {
	op    sdk.Op
	input []byte
}

// warmUps are the questions of the warm-up: they stand for what is asked later, and are always the same.
func warmUps(kind sdk.Kind) []warmUp {
	args := json.RawMessage(`{"command":"ls -l","path":"notes/a.md","limit":10,"deep":[true,null,{"x":"y"}]}`)
	scope := sdk.Scope{Mode: sdk.ScopeMode("warm-up"), KnowledgeBaseIDs: []string{"a"}}
	switch kind {
	case sdk.KindPolicy:
		return []warmUp{warmUpOf(sdk.OpEvaluate, sdk.Question{
			Tool: "warm-up", Server: "none", RawName: "up", Args: args, Scope: &scope, Now: time.Unix(pureEpoch, 0).UTC(),
			Identity: sdk.Identity{UserKey: "a:b", TenantKey: "a", UserID: "b", Roles: []string{"c"}},
			Static:   sdk.Opinion{Action: sdk.Allow, Reason: "warm-up"},
		})}
	case sdk.KindScope:
		return []warmUp{
			warmUpOf(sdk.OpInject, sdk.InjectRequest{Tool: "warm-up", Args: args, Scope: scope, Schema: json.RawMessage(`{"type":"object"}`)}),
			warmUpOf(sdk.OpFilter, sdk.FilterRequest{Result: args, Scope: scope}),
		}
	case sdk.KindGuard:
		return []warmUp{warmUpOf(sdk.OpReview, sdk.ReviewRequest{Draft: args, Evidence: args, Question: "warm-up?"})}
	}
	return nil
}

func warmUpOf(op sdk.Op, question any) warmUp {
	input, err := encode(question)
	if err != nil {
		panic(err) // the questions above are JSON
	}
	return warmUp{op, input}
}
