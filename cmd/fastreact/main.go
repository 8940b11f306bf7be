// Command fastreact runs the FastReAct service, and is a client of one that runs. It exits with 0 when it did what was
// asked, 1 when that failed, and 2 when it was asked wrongly.
// A second process of it keeps watch over each MCP server that it starts.
package main

import (
	"context"
	"os"

	"github.com/fastreact/fastreact/plugins/mcpbridge"
)

func main() {
	if code, asked := mcpbridge.Keep(os.Args); asked {
		os.Exit(code)
	}
	root := newRoot(program{in: os.Stdin, out: os.Stdout, errs: os.Stderr, getenv: os.Getenv})
	os.Exit(run(context.Background(), root))
}
