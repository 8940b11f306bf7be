// Package shell gives the model a shell over one folder: a bash-like interpreter with its utilities in the same program.
//
// No process is ever started. Nothing outside the folder is read or written, there is no network, and what a real
// machine has beyond that says so when it is tried. Every answer is bounded and says when something was left out.
package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/fastreact/fastreact/plugins/shell/disk"
	"github.com/fastreact/fastreact/sdk"
)

// Plugin answers the tool exec. It keeps nothing between calls and may be used by many goroutines at once.
type Plugin struct {
	open func() (*os.Root, error)
}

// New returns a plugin over the folder that open opens. Every call opens it anew and closes it.
func New(open func() (*os.Root, error)) *Plugin { return &Plugin{open: open} }

// Call runs one command line. What the command does, and whatever the model can mend, is a Result; an error means that
// there is no such tool or no folder. A status other than 0 makes the Result an error.
func (p *Plugin) Call(ctx context.Context, call sdk.Call) (sdk.Result, error) {
	if call.Tool != "exec" {
		return sdk.Result{}, fmt.Errorf("shell has no tool %q", call.Tool)
	}
	wanted, err := readArgs(call.Args)
	if err != nil {
		return sdk.Result{Content: err.Error(), IsError: true}, nil
	}
	root, err := p.open()
	if err != nil {
		return sdk.Result{}, fmt.Errorf("open workspace: %w", err)
	}
	defer root.Close()
	return perform(ctx, disk.New(root), wanted), nil
}

// perform runs a command to its end and tells what came of it.
func perform(ctx context.Context, d *disk.Disk, wanted args) sdk.Result {
	dir := disk.Abs("/", wanted.Cwd)
	if dir == "" {
		dir = "/"
	}
	if info, err := d.Stat(dir); err != nil || !info.IsDir() {
		return sdk.Result{Content: fmt.Sprintf("The folder %q does not exist in the workspace.", wanted.Cwd), IsError: true}
	}
	started, end := time.Now(), deadlineOf(ctx, wanted.timeout())
	inside, cancel := within(ctx, end)
	defer cancel()
	output := newCapture(cancel)
	stop := output.tell(ctx, time.Second)
	s := &session{disk: d, output: output, tools: tools()}
	status := s.script(inside, wanted.Command, dir)
	overdue := !end.IsZero() && !time.Now().Before(end) && status != 0
	cancel()
	stop()
	return report{output: output, status: status, overdue: overdue, after: time.Since(started)}.result()
}

// report is what came of a command.
type report struct {
	output  *capture
	status  int
	overdue bool
	after   time.Duration
}

// state is what programs read of a result.
type state struct {
	ExitCode  int  `json:"exit_code"`
	Truncated bool `json:"truncated"`
	TimedOut  bool `json:"timed_out"`
}

func (r report) result() sdk.Result {
	text, cut := r.output.text()
	var notes []string
	switch {
	case r.overdue:
		r.status = 124
		notes = append(notes, fmt.Sprintf("[Timed out: the command was ended after %s.]", r.after.Round(100*time.Millisecond)))
	case r.output.flooded():
		r.status = 141
		notes = append(notes, fmt.Sprintf("[The command was ended after writing %d MiB of output.]", maxWritten>>20))
	}
	if r.status != 0 {
		notes = append(notes, fmt.Sprintf("[exit code %d]", r.status))
	}
	if text == "" && len(notes) == 0 {
		notes = append(notes, "[no output, exit code 0]")
	}
	for _, note := range notes {
		if text != "" && text[len(text)-1] != '\n' {
			text += "\n"
		}
		text += note + "\n"
	}
	structured, err := json.Marshal(state{ExitCode: r.status, Truncated: cut, TimedOut: r.overdue})
	if err != nil {
		panic(fmt.Sprintf("shell: three plain fields are always JSON: %v", err))
	}
	return sdk.Result{Content: text, Structured: structured, IsError: r.status != 0}
}
