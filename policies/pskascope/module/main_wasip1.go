// Command module is the pska-scope plugin as a WebAssembly module.
package main

import (
	"github.com/fastreact/fastreact/policies/pskascope"
	"github.com/fastreact/fastreact/sdk/guest"
)

func init() { guest.ServeScoper(pskascope.Plugin{}) }

func main() {}
