package host

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// wasmTools offers the tools of Wasm plugins to the gate.
type wasmTools struct {
	tools   []run.Tool
	plugins map[string]*resident // by registered tool name
	folders folders
}

func newWasmTools(residents []*resident, folders folders) (*wasmTools, error) {
	w := &wasmTools{plugins: map[string]*resident{}, folders: folders}
	for _, r := range residents {
		for _, spec := range r.manifest().Tools {
			if other, taken := w.plugins[spec.Name]; taken {
				return nil, fmt.Errorf("tool %s is offered by the plugins %s and %s", spec.Name, other.Name(), r.Name())
			}
			w.plugins[spec.Name] = r
			w.tools = append(w.tools, run.Tool{
				Name: spec.Name, RawName: rawName(r, spec.Name), Description: spec.Description, Schema: spec.InputSchema,
				Source: run.FromWasm, Plugin: r.Name(), Scoped: spec.Scope, Profile: r.profile,
				Idempotent: harmless(r.builtin, spec.Name),
				Digest:     definitionDigest(spec.Name, spec.Description, spec.InputSchema, r.Digest()),
			})
		}
	}
	return w, nil
}

// rawName is the name by which rules may know a tool beside the registered one: that of its protocol, where it is
// reserved for one.
func rawName(r *resident, name string) string {
	if r.profile == "" {
		return name
	}
	return run.ToolID(name)
}

// Tools lists the tools of every plugin.
func (w *wasmTools) Tools(context.Context) []run.Tool { return w.tools }

// Invoke runs one tool in a fresh instance over the folder of the call.
func (w *wasmTools) Invoke(ctx context.Context, tool run.Tool, call sdk.Call) (result sdk.Result, err error) {
	r := w.plugins[tool.Name]
	calling, release, err := w.folders.open(r, call)
	if err != nil {
		return sdk.Result{}, err
	}
	defer release()
	call.Tool = tool.Name
	err = r.use(ctx, func(plugin *wasm.Plugin) error {
		result, err = plugin.Call(ctx, calling, call)
		return err
	})
	return result, err
}

// nativeTools offers the tools of one native plugin to the gate.
type nativeTools struct{ native sdk.Native }

// Tools makes sure that the plugin's sources are loaded and lists what works.
func (n nativeTools) Tools(ctx context.Context) []run.Tool {
	offered := n.native.Tools(ctx)
	tools := make([]run.Tool, 0, len(offered))
	for _, t := range offered {
		source := run.FromNative
		if t.Server != "" {
			source = run.FromMCP
		}
		tools = append(tools, run.Tool{
			Name: t.Name, Server: t.Server, RawName: t.RawName, Description: t.Description, Schema: t.InputSchema,
			Source: source, Plugin: n.native.Name(), Scoped: t.Scope, TrustedText: t.TrustedText, Profile: t.Profile,
			Digest: definitionDigest(t.Name, t.Description, t.InputSchema, t.Endpoint),
		})
	}
	return tools
}

// Invoke runs one tool of the native plugin.
func (n nativeTools) Invoke(ctx context.Context, tool run.Tool, call sdk.Call) (sdk.Result, error) {
	return n.native.Invoke(ctx, tool.Name, call)
}

// definitionDigest changes when a tool's definition or the place that answers it does.
func definitionDigest(name, description string, schema json.RawMessage, endpoint string) string {
	whole, err := json.Marshal([]string{name, description, string(schema), endpoint})
	if err != nil {
		panic(fmt.Sprintf("host: a list of strings is always JSON: %v", err))
	}
	return run.Digest(whole)
}
