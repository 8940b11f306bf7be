package guest

import "github.com/fastreact/fastreact/sdk"

// served holds the module's one plugin. It is written while the module initialises and only read afterwards.
var served = &registration{}

type registration struct{ plugin answerer }

// answerer answers the operations of one kind.
type answerer interface {
	answer(op sdk.Op, input []byte) ([]byte, error)
}

// ServeTool makes tool the module's plugin. Call it once, from init.
func ServeTool(plugin sdk.Tool) { served.set(tool{plugin}) }

// ServePolicy makes policy the module's plugin. Call it once, from init.
func ServePolicy(plugin sdk.Policy) { served.set(policy{plugin}) }

// ServeScoper makes scoper the module's plugin. Call it once, from init.
func ServeScoper(plugin sdk.Scoper) { served.set(scoper{plugin}) }

// ServeGuard makes guard the module's plugin. Call it once, from init.
func ServeGuard(plugin sdk.Guard) { served.set(guard{plugin}) }

func (r *registration) set(plugin answerer) {
	if r.plugin != nil {
		panic("guest: a module holds one plugin, two were served")
	}
	r.plugin = plugin
}
