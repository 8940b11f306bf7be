package guest

import "github.com/fastreact/fastreact/sdk"

// served holds the module's one plugin. It is written while the module initialises and only read afterwards.
var served = &registration{}

type registration struct{ plugin any }

// ServeTool makes tool the module's plugin. Call it once, from init.
func ServeTool(tool sdk.Tool) { served.set(tool) }

// ServePolicy makes policy the module's plugin. Call it once, from init.
func ServePolicy(policy sdk.Policy) { served.set(policy) }

// ServeScoper makes scoper the module's plugin. Call it once, from init.
func ServeScoper(scoper sdk.Scoper) { served.set(scoper) }

// ServeGuard makes guard the module's plugin. Call it once, from init.
func ServeGuard(guard sdk.Guard) { served.set(guard) }

func (r *registration) set(plugin any) {
	if r.plugin != nil {
		panic("guest: a module holds one plugin, two were served")
	}
	r.plugin = plugin
}
