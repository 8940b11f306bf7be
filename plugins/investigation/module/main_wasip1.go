// Command module is the investigation plugin as a WebAssembly module. It sees the folder that the host grants at "/".
package main

import (
	"os"

	"github.com/fastreact/fastreact/plugins/investigation"
	"github.com/fastreact/fastreact/sdk/guest"
)

func init() {
	guest.ServeTool(investigation.New(func() (*os.Root, error) { return os.OpenRoot("/") }))
}

func main() {}
