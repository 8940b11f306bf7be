package wasm

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Failure says that a plugin gave no answer. Whoever meets one denies, with Code as the reason.
type Failure struct {
	Code   run.DenialCode // one of the run.Plugin codes
	Plugin string
	Err    error // for the log; may hold text that the module chose
}

// Error shows the plugin, the code and the first line of the cause.
func (f *Failure) Error() string {
	cause, _, _ := strings.Cut(fmt.Sprint(f.Err), "\n")
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
