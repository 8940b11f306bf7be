// Package files gives the model a folder to work in: it reads, writes, edits, lists and searches files under one
// root and never outside it.
//
// Every answer is bounded and says when something was left out. Whatever goes wrong is a sentence the model can act
// on. Which folder the root is, and whether it may be written, is the host's decision.
package files

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/fastreact/fastreact/sdk"
)

// Plugin answers the six file tools. It keeps nothing between calls and may be used by many goroutines at once.
type Plugin struct {
	open func() (*os.Root, error)
}

// New returns a plugin over the folder that open opens. Every call opens it anew and closes it.
func New(open func() (*os.Root, error)) *Plugin { return &Plugin{open: open} }

// Call runs one tool. Whatever the model can mend is a Result with IsError; an error means that there is no such
// tool or no folder.
func (p *Plugin) Call(ctx context.Context, call sdk.Call) (sdk.Result, error) {
	run, known := tool(call.Tool)
	if !known {
		return sdk.Result{}, fmt.Errorf("files has no tool %q", call.Tool)
	}
	root, err := p.open()
	if err != nil {
		return sdk.Result{}, fmt.Errorf("open workspace: %w", err)
	}
	defer root.Close()
	text, err := run(ctx, folder{root}, call.Args)
	if err != nil {
		return sdk.Result{Content: sentence(err), IsError: true}, nil
	}
	return sdk.Result{Content: text}, nil
}

// tool finds the function behind a tool's name.
func tool(name string) (func(context.Context, folder, json.RawMessage) (string, error), bool) {
	switch name {
	case "read_file":
		return readFile, true
	case "write_file":
		return writeFile, true
	case "edit_file":
		return editFile, true
	case "list_files":
		return listFiles, true
	case "glob_files":
		return globFiles, true
	case "grep_files":
		return grepFiles, true
	}
	return nil, false
}
