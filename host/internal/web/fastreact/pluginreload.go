package fastreact

import (
	"net/http"

	"github.com/fastreact/fastreact/host/internal/web"
)

// PluginReload says what a reload changed.
type PluginReload struct {
	Reload
	Was     int // number of the generation
	Is      int
	Plugins []PluginChange // of both generations
}

// PluginChange says what became of one plugin.
type PluginChange struct {
	Name   string
	Kind   string
	Digest string // empty: it is gone
	Before string // digest; empty: it is new
	Signer string // of those who are trusted; empty: unsigned, or nobody's
	Change string // one of the four below
}

// What may become of a plugin. One whose code is the same and whose entry is not counts as changed.
const (
	PluginAdded     = "added"
	PluginChanged   = "changed"
	PluginUnchanged = "unchanged"
	PluginRemoved   = "removed"
)

type pluginReloadBody struct {
	reloadBody
	Was     int            `json:"previous_generation"`
	Is      int            `json:"generation"`
	Plugins []pluginChange `json:"plugins"`
}

type pluginChange struct {
	Name   string  `json:"name"`
	Kind   string  `json:"kind"`
	Change string  `json:"change"`
	Before *string `json:"previous_digest"`
	Digest *string `json:"digest"`
	Signer *string `json:"signer"`
}

func (f *face) reloadPlugins(x *web.Exchange) error {
	if _, err := x.Object(); err != nil {
		return err
	}
	if f.cfg.Administration == nil || !f.cfg.Inspector.Policy().Reload {
		return &web.Refusal{
			Status: http.StatusConflict, Code: "reload_unsupported",
			Sentence: "The service runs without a configuration file: there are no plugins to read again.",
		}
	}
	reload, faults, err := f.cfg.Administration.ReloadPlugins(x.Request.Context())
	switch {
	case err != nil:
		return err
	case len(faults) > 0:
		return &web.Refusal{
			Status: http.StatusUnprocessableEntity, Code: "invalid_plugins", Fields: faults,
			Sentence: "The plugins were not reloaded. The generation before serves on.",
		}
	}
	body := pluginReloadBody{
		reloadBody: reloadBody{true, reload.changed(), reload.Before, reload.After, reload.After},
		Was:        reload.Was, Is: reload.Is, Plugins: []pluginChange{},
	}
	for _, p := range reload.Plugins {
		body.Plugins = append(body.Plugins, pluginChange{
			p.Name, p.Kind, p.Change, orNull(p.Before), orNull(p.Digest), orNull(p.Signer),
		})
	}
	return x.JSON(http.StatusOK, body)
}

// changed reports whether anything that decides is another than before.
func (r PluginReload) changed() bool { return r.Was != r.Is || r.Before != r.After }
