// Command module is the semantic-guard plugin as a WebAssembly module.
package main

import (
	"github.com/fastreact/fastreact/policies/semanticguard"
	"github.com/fastreact/fastreact/sdk/guest"
)

func init() { guest.ServeGuard(semanticguard.Plugin{}) }

func main() {}
