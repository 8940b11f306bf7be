package dispatch

import (
	"context"
	"errors"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

// repeated returns the run of an earlier request with the same idempotency key, ledger.ErrUnknown when there is none,
// and CodeKeyReused when that one asked for something else.
func (d *Dispatcher) repeated(ctx context.Context, request run.Request) (run.Run, error) {
	if request.Idempotency.Key == "" {
		return run.Run{}, ledger.ErrUnknown
	}
	identity := request.Identity
	r, err := d.cfg.Store.Keyed(ctx, run.TenantKey(identity.TenantKey), identity.UserKey, request.Idempotency.Key)
	if err != nil {
		return run.Run{}, err
	}
	if r.Request.Idempotency.Digest != request.Idempotency.Digest {
		return run.Run{}, &run.Error{
			Code: run.CodeKeyReused, Op: "repeat run",
			Sentence: "This Idempotency-Key was used for another request. Use a new key for a new request.",
		}
	}
	return r, nil
}

// orRepeated returns the run of a twin that was faster, else the error of the own attempt.
func (d *Dispatcher) orRepeated(ctx context.Context, request run.Request, failed error) (run.Run, error) {
	if !errors.Is(failed, ledger.ErrExists) {
		return run.Run{}, failed
	}
	r, err := d.repeated(ctx, request)
	if errors.Is(err, ledger.ErrUnknown) {
		return run.Run{}, failed
	}
	return r, err
}
