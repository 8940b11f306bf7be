package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/fastreact/fastreact/sdk"
)

// What one call gives out. The beginning and the end of a long output are kept.
const (
	maxHead     = 192 << 10 // bytes kept of the beginning
	maxTail     = 64 << 10  // bytes kept of the end
	maxWritten  = 64 << 20  // bytes after which the command is ended
	maxProgress = 8 << 10   // bytes of one progress report
)

var errFlood = errors.New("too much output")

// capture collects what a command writes, standard output and standard error in the order of writing. Many goroutines
// may write to it.
type capture struct {
	end func() // ends the command

	mu      sync.Mutex
	head    []byte
	tail    []byte
	written int64
	pending []byte // not yet told as progress
}

func newCapture(end func()) *capture { return &capture{end: end} }

// Write keeps what fits.
func (c *capture) Write(data []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.written > maxWritten {
		return 0, errFlood
	}
	c.written += int64(len(data))
	if c.written > maxWritten {
		c.end()
	}
	taken := min(len(data), maxHead-len(c.head))
	c.head = append(c.head, data[:taken]...)
	c.tail = append(c.tail, data[taken:]...)
	if len(c.tail) > 2*maxTail {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-maxTail:]...)
	}
	c.pending = append(c.pending, data[max(0, len(data)-maxProgress):]...)
	if len(c.pending) > 2*maxProgress {
		c.pending = append(c.pending[:0], c.pending[len(c.pending)-maxProgress:]...)
	}
	return len(data), nil
}

func (c *capture) flooded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written > maxWritten
}

// text returns what was kept as valid UTF-8, with a note where something is missing.
func (c *capture) text() (text string, cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := c.tail[max(0, len(c.tail)-maxTail):]
	missing := c.written - int64(len(c.head)) - int64(len(tail))
	if missing <= 0 {
		return strings.ToValidUTF8(string(c.head)+string(tail), "\uFFFD"), false
	}
	if _, rest, found := strings.Cut(string(tail), "\n"); found && rest != "" {
		missing += int64(len(tail) - len(rest))
		tail = []byte(rest)
	}
	note := fmt.Sprintf("\n[Output truncated: %d of %d bytes are left out here; redirect it to a file and read that in parts.]\n",
		missing, c.written)
	return strings.ToValidUTF8(string(c.head)+note+string(tail), "\uFFFD"), true
}

// tell reports what is new as progress, once each interval, until stop is called.
func (c *capture) tell(ctx context.Context, interval time.Duration) (stop func()) {
	ticker := time.NewTicker(interval)
	done := make(chan struct{})
	var teller sync.WaitGroup
	teller.Go(func() {
		for {
			select {
			case <-ticker.C:
				c.report(ctx)
			case <-done:
				return
			}
		}
	})
	return func() {
		ticker.Stop()
		close(done)
		teller.Wait()
	}
}

func (c *capture) report(ctx context.Context) {
	c.mu.Lock()
	text := strings.ToValidUTF8(string(c.pending[max(0, len(c.pending)-maxProgress):]), "\uFFFD")
	c.pending = c.pending[:0]
	c.mu.Unlock()
	if text != "" {
		sdk.ReportProgress(ctx, sdk.Progress{Text: text})
	}
}
