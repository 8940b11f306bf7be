// Command module is the evidence-guard plugin as a WebAssembly module.
package main

import (
	"github.com/fastreact/fastreact/policies/evidenceguard"
	"github.com/fastreact/fastreact/sdk/guest"
)

func init() { guest.ServeGuard(evidenceguard.Plugin{}) }

func main() {}
