// Command fastreact runs the FastReAct service, and is a client of one that runs. It exits with 0 when it did what was
// asked, 1 when that failed, and 2 when it was asked wrongly.
package main

import (
	"context"
	"os"
)

func main() {
	root := newRoot(program{in: os.Stdin, out: os.Stdout, errs: os.Stderr, getenv: os.Getenv})
	os.Exit(run(context.Background(), root))
}
