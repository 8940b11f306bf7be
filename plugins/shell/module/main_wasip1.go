// Command module is the shell plugin as a WebAssembly module. It sees the folder that the host grants at "/".
package main

import (
	"os"

	"github.com/fastreact/fastreact/plugins/shell"
	"github.com/fastreact/fastreact/sdk/guest"
)

func init() {
	guest.ServeTool(guest.WithProgress(shell.New(func() (*os.Root, error) { return os.OpenRoot("/") })))
}

func main() {}
