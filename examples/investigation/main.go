// Command investigation writes invented investigations to try the agent tools with: one folder each, the same bytes
// every time.
//
//	go run ./examples/investigation -out examples/investigation/workspaces
//	go run ./examples/investigation -out /tmp/workspaces -hostile
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fastreact/fastreact/examples/investigation/specimen"
)

func main() {
	out := flag.String("out", "", "folder to write the workspaces into")
	hostile := flag.Bool("hostile", false, "also write a workspace whose texts try to be more than texts")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: go run ./examples/investigation -out DIR [-hostile]")
		os.Exit(2)
	}
	if err := writeAll(*out, *hostile); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// writeAll writes every workspace into a folder of its name.
func writeAll(out string, hostile bool) error {
	workspaces := map[string]specimen.Workspace{"harbour": specimen.Harbour(), "observatory": specimen.Observatory()}
	if hostile {
		workspaces["hostile"] = specimen.Hostile()
	}
	for name, workspace := range workspaces {
		if err := specimen.Write(filepath.Join(out, name), workspace); err != nil {
			return err
		}
	}
	return nil
}
