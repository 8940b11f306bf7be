package wasm

import (
	"fmt"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// neverGranted says that nobody can help: a pure kind asked.
func neverGranted(manifest sdk.Manifest, i imported, capability, without string) error {
	return fmt.Errorf("import %s %s: capability %q is never granted to a %s, nobody can add it; the author must build without %s",
		i.module, i.name, capability, manifest.Kind, without)
}

// notRequested says that the author's manifest must ask before an operator can grant.
func notRequested(i imported, capability string) error {
	return fmt.Errorf("import %s %s: capability %q is not requested; the author adds capabilities.%s to the manifest, then the operator may grant it in plugins.load[].grants",
		i.module, i.name, capability, capability)
}

// notGranted names the line that the operator may add.
func notGranted(i imported, capability, line string) error {
	return fmt.Errorf("import %s %s: capability %q is not granted; the operator may add to this plugin's entry in plugins.load: grants: %s",
		i.module, i.name, capability, line)
}

func missingHTTP(manifest sdk.Manifest, i imported) error {
	switch want := manifest.Capabilities.HTTP; {
	case manifest.Kind.Pure():
		return neverGranted(manifest, i, capabilityHTTP, "HTTP")
	case len(want) == 0:
		return notRequested(i, capabilityHTTP)
	default:
		one := want[0].WithDefaults()
		return notGranted(i, capabilityHTTP, fmt.Sprintf("{http: [{scheme: %s, host: %q, port: %d, methods: %v}]}",
			one.Scheme, one.Host, one.Port, listed(one.Methods)))
	}
}

func missingKV(manifest sdk.Manifest, i imported) error {
	switch want := manifest.Capabilities.KV; {
	case manifest.Kind.Pure():
		return neverGranted(manifest, i, capabilityKV, "guest.KV")
	case want == nil:
		return notRequested(i, capabilityKV)
	default:
		return notGranted(i, capabilityKV, fmt.Sprintf("{kv: {bytes: %d}}", want.Bytes))
	}
}

// listed writes words as YAML does on one line.
func listed(words []string) string { return "[" + strings.Join(words, ", ") + "]" }
