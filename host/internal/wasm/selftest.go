package wasm

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// selfTestTimeout bounds all vectors of one module together.
const selfTestTimeout = 10 * time.Second

// SelfTest asks the plugin every vector of its manifest, as a call would. The error is a *Failure that names the first
// vector whose answer is another than the manifest says.
func (p *Plugin) SelfTest(ctx context.Context) error {
	if p.proven {
		return nil
	}
	ctx, stop := context.WithTimeoutCause(ctx, selfTestTimeout, fmt.Errorf("the vectors took longer than %s", selfTestTimeout))
	defer stop()
	for _, v := range p.manifest.Vectors {
		answer, err := p.askVector(ctx, v)
		if err != nil {
			failure := asFailure(p.name, err)
			return &Failure{Code: failure.Code, Plugin: p.name, Err: fmt.Errorf("vector %q: %w", v.Name, failure.Err)}
		}
		if err := v.Holds(answer); err != nil {
			return &Failure{Code: run.PluginUnavailable, Plugin: p.name, Err: err}
		}
	}
	p.attest()
	return nil
}

// askVector returns what the plugin answers, as the host understands it.
func (p *Plugin) askVector(ctx context.Context, v sdk.Vector) (json.RawMessage, error) {
	switch v.Op {
	case "call":
		return answerTo(ctx, v, func(ctx context.Context, call sdk.Call) (sdk.Result, error) {
			return p.Call(ctx, CallContext{}, call)
		})
	case "evaluate":
		return answerTo(ctx, v, p.Evaluate)
	case "inject":
		return answerTo(ctx, v, p.Inject)
	case "filter":
		return answerTo(ctx, v, p.Filter)
	case "review":
		return answerTo(ctx, v, p.Review)
	}
	return nil, fail(run.PluginUnavailable, "op %q is unknown", v.Op)
}

func answerTo[Q, A any](ctx context.Context, v sdk.Vector, ask func(context.Context, Q) (A, error)) (json.RawMessage, error) {
	var question Q
	if err := v.Read(&question); err != nil {
		return nil, err
	}
	answer, err := ask(ctx, question)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}
