// Command module is the exec-guard policy as a WebAssembly module.
package main

import (
	"github.com/fastreact/fastreact/policies/execguard"
	"github.com/fastreact/fastreact/sdk/guest"
)

func init() { guest.ServePolicy(execguard.Plugin{}) }

func main() {}
