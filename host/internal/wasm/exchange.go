package wasm

import (
	"context"
	"errors"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/wasm/pool"
	"github.com/fastreact/fastreact/sdk"
)

// Exchange runs one operation on raw JSON and returns the guest's own bytes, checked as the operation's method checks
// them. Every error is a *Failure.
func (p *Plugin) Exchange(ctx context.Context, op sdk.Op, cc CallContext, input []byte) ([]byte, error) {
	answer, err := p.exchangeChecked(ctx, op, cc, input)
	if err != nil {
		failure := asFailure(p.name, err)
		p.remember(failure)
		return nil, failure
	}
	p.remember(nil)
	return answer, nil
}

func (p *Plugin) exchangeChecked(ctx context.Context, op sdk.Op, cc CallContext, input []byte) ([]byte, error) {
	if kindOf(op) != p.manifest.Kind {
		return nil, p.wrongKind(op)
	}
	if len(input) > maxInputBytes {
		return nil, fail(run.PluginUnavailable, "the input has %d bytes, the limit is %d", len(input), maxInputBytes)
	}
	answer, err := p.exchange(ctx, op, cc, input)
	if err != nil {
		return nil, err
	}
	return answer, checkAnswer(op, answer)
}

// kindOf returns which kind answers an operation; empty for an operation that there is not.
func kindOf(op sdk.Op) sdk.Kind {
	switch op {
	case sdk.OpCall:
		return sdk.KindTool
	case sdk.OpEvaluate:
		return sdk.KindPolicy
	case sdk.OpInject, sdk.OpFilter:
		return sdk.KindScope
	case sdk.OpReview:
		return sdk.KindGuard
	}
	return ""
}

func checkAnswer(op sdk.Op, answer []byte) error {
	var err error
	switch op {
	case sdk.OpCall:
		_, err = decode[sdk.Result](answer)
	case sdk.OpEvaluate:
		_, err = decodeOpinion(answer)
	case sdk.OpInject:
		_, err = decodeInjection(answer)
	case sdk.OpFilter:
		_, err = decodeFiltering(answer, nil)
	case sdk.OpReview:
		_, err = decodeReview(answer)
	}
	return err
}

// exchange runs one operation within the plugin's limits: it leases an instance, calls it, and gives it back to be
// restored or discarded. What the call cost is reported, however it ended.
func (p *Plugin) exchange(ctx context.Context, op sdk.Op, cc CallContext, input []byte) ([]byte, error) {
	i, err := p.pool.Lease(ctx, time.Duration(p.limits.Wall))
	if err != nil {
		return nil, noLease(ctx, err)
	}
	code, rest, err := p.wake(ctx)
	if err != nil {
		p.pool.Return(i, true)
		return nil, asFailure(p.name, err)
	}
	v := p.visit(ctx, cc)
	defer func() {
		whole := !v.broken && !v.touched
		p.report(ctx, v)
		p.pool.Return(i, whole)
		rest()
	}()
	if p.manifest.Kind.Pure() {
		return i.exchange(withVisit(ctx, v), v, op, input)
	}
	return p.callTool(ctx, code, i, v, input)
}

// visit opens the account of one call.
func (p *Plugin) visit(ctx context.Context, cc CallContext) *visit {
	return &visit{
		call: cc, plugin: p.name,
		meter: taximeter{limits: p.limits, deadline: time.Now().Add(time.Duration(p.limits.Wall)), stop: p.stop},
		log:   callLog{log: p.log, plugin: p.name, limit: p.limits.LogBytes, author: cc.Output, hide: p.egress.Vault.Redact},
		emit:  newEmitter(ctx, p.progress), settings: p.settings, budget: p.host.budget,
	}
}

// report tells who listens what a call cost, and closes its log.
func (p *Plugin) report(ctx context.Context, v *visit) {
	v.log.flush(v.broken)
	if v.call.Spent != nil {
		*v.call.Spent = Spent{Gas: v.meter.gas, HostCalls: v.meter.calls}
	}
	run.ReportGas(ctx, run.GasUse{Plugin: p.name, Digest: p.digest, Gas: v.meter.gas})
}

// callTool starts the module for this call alone, over the folders of the call.
func (p *Plugin) callTool(ctx context.Context, code *engine, i *instance, v *visit, input []byte) ([]byte, error) {
	ctx, leave, err := p.calls.enter(ctx)
	if err != nil {
		return nil, fail(run.PluginUnavailable, "%w", err)
	}
	defer leave()
	ctx, cancel := withWall(ctx, p.limits.Wall)
	defer cancel()
	files, closeFiles, err := openMounts(p.mounts, v.call)
	if err != nil {
		return nil, fail(run.PluginUnavailable, "%w", err)
	}
	defer closeFiles()
	v.using = p.newUsing(v.call)
	defer v.using.close()
	ctx = withVisit(ctx, v)
	_, err = i.guard(ctx, v, func() ([]byte, error) {
		return nil, code.start(ctx, i, toolWorld(ctx).WithFSConfig(files), v)
	})
	if err != nil {
		return nil, err
	}
	return i.exchange(ctx, v, sdk.OpCall, input)
}

func withWall(ctx context.Context, wall sdk.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, time.Duration(wall), errWall)
}

// noLease says why a call got no instance.
func noLease(ctx context.Context, err error) *Failure {
	var known *Failure
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, pool.ErrClosed):
		return fail(run.PluginUnavailable, "%w", ErrClosed)
	case errors.Is(err, pool.ErrBusy):
		return fail(run.PluginBusy, "%w", err)
	case ctx.Err() != nil:
		return timedOut(err)
	}
	return fail(run.PluginUnavailable, "%w", err)
}
