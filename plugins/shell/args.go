package shell

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// args are the arguments of exec.
type args struct {
	Command        string
	TimeoutSeconds int
	Cwd            string
}

// Bounds of the arguments.
const (
	maxCommand = 256 << 10 // bytes
	maxTimeout = 3600      // seconds
)

// readArgs takes the arguments apart. Names are exact, as in the published schema: an unknown, doubled or differently
// written name is refused, so that what a policy judged is what runs.
func readArgs(raw json.RawMessage) (args, error) {
	var a args
	targets := map[string]any{"command": &a.Command, "timeout_seconds": &a.TimeoutSeconds, "cwd": &a.Cwd}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return a, errors.New("the arguments must be a JSON object")
	}
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return a, errors.New("the arguments are not valid JSON")
		}
		name, _ := token.(string)
		target, known := targets[name]
		if !known || seen[name] {
			return a, fmt.Errorf("there is no argument %q, or it is given twice; the arguments are command, timeout_seconds and cwd", name)
		}
		seen[name] = true
		if err := decoder.Decode(target); err != nil {
			return a, fmt.Errorf("the argument %q has the wrong type", name)
		}
	}
	if _, err := decoder.Token(); err != nil && !errors.Is(err, io.EOF) {
		return a, errors.New("the arguments are not valid JSON")
	}
	return a, a.check()
}

func (a args) check() error {
	switch {
	case a.Command == "":
		return errors.New("the argument \"command\" is required")
	case len(a.Command) > maxCommand:
		return fmt.Errorf("the command is longer than %d bytes; write it to a file and run that with sh", maxCommand)
	case a.TimeoutSeconds < 0 || a.TimeoutSeconds > maxTimeout:
		return fmt.Errorf("the argument \"timeout_seconds\" must lie between 1 and %d", maxTimeout)
	}
	return nil
}

// timeout is how long the command may take; 0 leaves it to the host.
func (a args) timeout() time.Duration { return time.Duration(a.TimeoutSeconds) * time.Second }
