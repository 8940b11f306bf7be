package wasm

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/sys"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Failure says that a plugin gave no answer. Whoever meets one denies, with Code as the reason. Nothing in it was
// chosen by the guest while it ran.
type Failure struct {
	Code   run.DenialCode // one of the run.Plugin codes
	Plugin string
	Err    error // for the log
}

// Error shows the plugin, the code and the first line of the cause.
func (f *Failure) Error() string {
	cause, _, _ := strings.Cut(fmt.Sprint(f.Err), "\n")
	if f.Plugin == "" {
		return fmt.Sprintf("%s: %s", f.Code, cause)
	}
	return fmt.Sprintf("plugin %s: %s: %s", f.Plugin, f.Code, cause)
}

// DenialCode returns the code, for whoever denies a call because of it.
func (f *Failure) DenialCode() run.DenialCode { return f.Code }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

func fail(code run.DenialCode, format string, args ...any) *Failure {
	return &Failure{Code: code, Err: fmt.Errorf(format, args...)}
}

// asFailure names the plugin on a failure; any other error means that the plugin cannot be used.
func asFailure(plugin string, err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return &Failure{Code: f.Code, Plugin: plugin, Err: f.Err}
	}
	return &Failure{Code: run.PluginUnavailable, Plugin: plugin, Err: err}
}

// classify turns any error of a guest that ended abnormally into a *Failure, without what the guest said: its names
// and messages stay in the room. Time comes first, then memory: a guest that was refused memory usually traps.
func classify(ctx context.Context, memory *linearMemory, err error) *Failure {
	var known *Failure
	var exit *sys.ExitError
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil:
		return timedOut(context.Cause(ctx))
	case memory != nil && memory.refused != "":
		return fail(run.PluginOutOfMemory, "%s was reached", memory.refused)
	case errors.As(err, &exit):
		return fail(run.PluginTrapped, "the module exited with code %d", exit.ExitCode())
	}
	return trapped(err)
}

// trapped keeps the sandbox's own words about a trap, and nothing else.
func trapped(err error) *Failure {
	first, _, _ := strings.Cut(err.Error(), "\n")
	words := first[max(0, strings.LastIndex(first, "wasm error: ")):]
	words = strings.TrimPrefix(words, "wasm error: ")
	if words == "stack overflow" {
		return fail(run.PluginStackOverflow, "the sandbox's stack is used up")
	}
	for _, trap := range traps() {
		if words == trap {
			return fail(run.PluginTrapped, "%s", trap)
		}
	}
	return fail(run.PluginTrapped, "the guest ended abnormally")
}

func traps() []string {
	return []string{
		"unreachable", "out of bounds memory access", "invalid table access", "indirect call type mismatch", "integer overflow",
		"integer divide by zero", "invalid conversion to integer", "null reference",
	}
}
