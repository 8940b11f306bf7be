package host

import (
	"context"
	"errors"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
	"github.com/fastreact/fastreact/host/internal/web/fastreact"
)

// ReloadPolicy puts the policy section of the configuration file in force as it is written now, and nothing else of it.
func (s *Server) ReloadPolicy(ctx context.Context) (fastreact.Reload, []web.FieldError, error) {
	done, err := s.reload(ctx, reach{rules: true})
	if faults, failed := refusal(ctx, err); err != nil {
		return fastreact.Reload{}, faults, failed
	}
	return fastreact.Reload{Before: done.hashBefore, After: done.hashAfter}, nil, nil
}

// ReloadPlugins puts plugins and policy in force as files and configuration are now.
func (s *Server) ReloadPlugins(ctx context.Context) (fastreact.PluginReload, []web.FieldError, error) {
	done, err := s.reload(ctx, reach{rules: true, plugins: true})
	if faults, failed := refusal(ctx, err); err != nil {
		return fastreact.PluginReload{}, faults, failed
	}
	return fastreact.PluginReload{
		Reload: fastreact.Reload{Before: done.hashBefore, After: done.hashAfter},
		Was:    done.before.number, Is: done.after.number, Plugins: changesBetween(done.before, done.after),
	}, nil, nil
}

// refusal tells what the configuration and its plugins are to blame for from what they are not.
func refusal(ctx context.Context, err error) ([]web.FieldError, error) {
	switch {
	case err == nil:
		return nil, nil
	case errors.Is(err, errStopping), ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return nil, err
	}
	return faultsOf(err), nil
}

// changesBetween says of every plugin of either generation what became of it.
func changesBetween(before, after *generation) []fastreact.PluginChange {
	var changes []fastreact.PluginChange
	for _, r := range after.residents {
		change := fastreact.PluginChange{Name: r.Name(), Kind: string(r.manifest().Kind), Digest: r.Digest(), Signer: r.signer}
		was := before.named(r.Name())
		switch {
		case was == nil:
			change.Change = fastreact.PluginAdded
		case was == r:
			change.Before, change.Change = was.Digest(), fastreact.PluginUnchanged
		default:
			change.Before, change.Change = was.Digest(), fastreact.PluginChanged
		}
		changes = append(changes, change)
	}
	for _, was := range before.residents {
		if after.named(was.Name()) == nil {
			changes = append(changes, fastreact.PluginChange{
				Name: was.Name(), Kind: string(was.manifest().Kind), Before: was.Digest(), Change: fastreact.PluginRemoved,
			})
		}
	}
	return changes
}

// Audits returns audit records of all runs.
func (s *Server) Audits(ctx context.Context, after int64, limit int) ([]run.Audit, error) {
	return s.ledger.Audits(ctx, nil, after, limit)
}
