package executor

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a panic that was contained. It names the kind of value and where it came from, never what the value
// said: that may hold anything.
type PanicError struct {
	Kind  string
	Stack string
}

// Error is for the log; no part of it is fit for a wire.
func (e *PanicError) Error() string { return "panic of type " + e.Kind + "\n" + e.Stack }

// Contain runs work and makes an error of a panic in it.
func Contain(work func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &PanicError{Kind: fmt.Sprintf("%T", cause), Stack: string(debug.Stack())}
		}
	}()
	return work()
}
