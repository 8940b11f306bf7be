package gate

import (
	"context"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// Scopers makes one scope plugin of several: each bounds what the one before it left. The first failure is the
// failure of all. Without any it is nil, and every call that needs a scope is denied.
func Scopers(parts ...Scoper) Scoper {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	return scopers(parts)
}

type scopers []Scoper

// Name joins the names in the order in which the plugins speak.
func (s scopers) Name() string {
	names := make([]string, 0, len(s))
	for _, part := range s {
		names = append(names, part.Name())
	}
	return strings.Join(names, "+")
}

// Digest is the digest of the plugins' digests.
func (s scopers) Digest() string {
	digests := make([]string, 0, len(s))
	for _, part := range s {
		digests = append(digests, part.Digest())
	}
	return run.Digest([]byte(strings.Join(digests, "\n")))
}

// Inject lets each plugin bound the arguments.
func (s scopers) Inject(ctx context.Context, request sdk.InjectRequest) (sdk.Injection, error) {
	whole := sdk.Injection{Args: request.Args}
	for _, part := range s {
		request.Args = whole.Args
		one, err := part.Inject(ctx, request)
		if err != nil {
			return sdk.Injection{}, err
		}
		whole.Args = one.Args
		whole.Applied = whole.Applied || one.Applied
		whole.Empty = whole.Empty || one.Empty
		whole.Narrowed = append(whole.Narrowed, one.Narrowed...)
		whole.Unverified = append(whole.Unverified, one.Unverified...)
	}
	return whole, nil
}

// Filter lets each plugin drop entries.
func (s scopers) Filter(ctx context.Context, request sdk.FilterRequest) (sdk.Filtering, error) {
	whole := sdk.Filtering{Result: request.Result}
	for _, part := range s {
		request.Result = whole.Result
		one, err := part.Filter(ctx, request)
		if err != nil {
			return sdk.Filtering{}, err
		}
		if one.Removed > 0 {
			whole.Result = one.Result
		}
		whole.Removed += one.Removed
	}
	return whole, nil
}
