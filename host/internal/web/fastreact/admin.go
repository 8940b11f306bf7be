package fastreact

import (
	"context"
	"net/http"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// Administration is what the holder of the administration token may do.
type Administration interface {
	// ReloadPolicy puts the policy section of the configuration in force as it is written now. Where it cannot, the old
	// policy stays and every reason is a fault.
	ReloadPolicy(ctx context.Context) (Reload, []web.FieldError, error)
	// ReloadPlugins puts plugins and policy in force as files and configuration are now, both or neither. Where it
	// cannot, the old generation serves on and every reason is a fault.
	ReloadPlugins(ctx context.Context) (PluginReload, []web.FieldError, error)
	// Audits returns audit records with a sequence greater than after, ascending, at most limit.
	Audits(ctx context.Context, after int64, limit int) ([]run.Audit, error)
}

// Reload says what a reload changed.
type Reload struct {
	Before string // hash of the policy
	After  string
}

type reloadBody struct {
	Reloaded bool   `json:"reloaded"`
	Changed  bool   `json:"changed"`
	Before   string `json:"previous_policy_snapshot_hash"`
	Hash     string `json:"policy_snapshot_hash"`
	Version  string `json:"policy_version"`
}

func (f *face) reloadPolicy(x *web.Exchange) error {
	if _, err := x.Object(); err != nil {
		return err
	}
	if f.cfg.Administration == nil || !f.cfg.Inspector.Policy().Reload {
		return &web.Refusal{
			Status: http.StatusConflict, Code: "reload_unsupported",
			Sentence: "The service runs without a configuration file: there is no policy to read again.",
		}
	}
	reload, faults, err := f.cfg.Administration.ReloadPolicy(x.Request.Context())
	switch {
	case err != nil:
		return err
	case len(faults) > 0:
		return &web.Refusal{
			Status: http.StatusUnprocessableEntity, Code: "invalid_policy", Fields: faults,
			Sentence: "The configuration is not valid. The old policy stays in force.",
		}
	}
	return x.JSON(http.StatusOK, reloadBody{true, reload.Before != reload.After, reload.Before, reload.After, reload.After})
}
