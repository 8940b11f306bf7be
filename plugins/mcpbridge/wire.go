package mcpbridge

import (
	"errors"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
)

// wire is a transport that knows when it is dead.
type wire interface {
	transport.Interface
	// dead is closed as soon as no request can be answered any more.
	dead() <-chan struct{}
	// fail declares the wire dead for the given reason, once.
	fail(reason error)
	// failure is the reason, nil while the wire lives.
	failure() error
}

// mortality implements the three methods of wire.
type mortality struct {
	once   sync.Once
	ended  chan struct{}
	mu     sync.Mutex
	reason error
}

func newMortality() *mortality { return &mortality{ended: make(chan struct{})} }

func (m *mortality) dead() <-chan struct{} { return m.ended }

func (m *mortality) fail(reason error) {
	m.once.Do(func() {
		m.mu.Lock()
		m.reason = reason
		m.mu.Unlock()
		close(m.ended)
	})
}

func (m *mortality) failure() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reason
}

// notSent marks an error of a request that certainly did not reach the server.
type notSent struct{ cause error }

func (e *notSent) Error() string { return "not sent: " + e.cause.Error() }
func (e *notSent) Unwrap() error { return e.cause }

func wasNotSent(err error) bool {
	var marked *notSent
	return errors.As(err, &marked)
}
