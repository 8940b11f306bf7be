package mcpbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// stdioWire speaks one JSON message per line with a child. Unlike the library's own, it never waits for a child that
// does not read, bounds what it reads, and fails every call in flight the moment the child ends.
type stdioWire struct {
	*mortality
	child   *process
	limit   int
	log     *slog.Logger
	replies replies
	out     chan []byte
	tasks   sync.WaitGroup
	stop    sync.Once
	closed  chan struct{}

	mu      sync.Mutex
	waiting map[string]chan answer // by request id
	notify  func(mcp.JSONRPCNotification)
}

// answer is what came back for one request.
type answer struct {
	response *transport.JSONRPCResponse
	err      error
}

// openStdio starts the server's program and reads and writes until Close.
func openStdio(spec Server, config Config, f *forker) (*stdioWire, error) {
	child, err := startProcess(spec, f, config)
	if err != nil {
		return nil, err
	}
	w := &stdioWire{
		mortality: newMortality(),
		child:     child,
		limit:     max(config.MaxResultBytes, 2*edge),
		log:       config.Log.With(slog.String("server", spec.Name)),
		replies:   replies{spec.Elicitation},
		out:       make(chan []byte, 64),
		closed:    make(chan struct{}),
		waiting:   map[string]chan answer{},
	}
	w.tasks.Go(w.read)
	w.tasks.Go(w.write)
	return w, nil
}

// Start does nothing: the child runs already.
func (w *stdioWire) Start(context.Context) error { return nil }

// GetSessionId is empty: a child is its own session.
func (w *stdioWire) GetSessionId() string { return "" }

// SetNotificationHandler sets who hears notifications of the server.
func (w *stdioWire) SetNotificationHandler(handler func(mcp.JSONRPCNotification)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notify = handler
}

// Close ends the child with its process group and waits for it.
func (w *stdioWire) Close() error {
	w.stop.Do(func() {
		w.fail(errClosed)
		close(w.closed)
		w.child.stop(context.Background())
	})
	w.tasks.Wait()
	return nil
}

// SendRequest sends a request and waits for its answer, the end of ctx, or the end of the child.
func (w *stdioWire) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	message, err := encode(request)
	if err != nil {
		return nil, &notSent{err}
	}
	id := request.ID.String()
	replies := make(chan answer, 1)
	w.expect(id, replies)
	defer w.take(id)
	if err := w.send(ctx, message); err != nil {
		return nil, &notSent{err}
	}
	select {
	case reply := <-replies:
		return reply.response, reply.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-w.dead():
		select { // the answer may have come just before the end
		case reply := <-replies:
			return reply.response, reply.err
		default:
			return nil, w.failure()
		}
	}
}

// SendNotification queues a notification. It does not wait for a child that reads nothing.
func (w *stdioWire) SendNotification(ctx context.Context, notification mcp.JSONRPCNotification) error {
	message, err := encode(notification)
	if err != nil {
		return err
	}
	return w.send(ctx, message)
}

func (w *stdioWire) send(ctx context.Context, message []byte) error {
	select {
	case <-w.dead():
		return w.failure()
	default:
	}
	select {
	case w.out <- append(message, '\n'):
		return nil
	case <-w.dead():
		return w.failure()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *stdioWire) expect(id string, replies chan answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting[id] = replies
}

func (w *stdioWire) take(id string) chan answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	replies := w.waiting[id]
	delete(w.waiting, id)
	return replies
}

func (w *stdioWire) write() {
	for {
		select {
		case message := <-w.out:
			if _, err := w.child.stdin.Write(message); err != nil {
				w.fail(fmt.Errorf("%w: write: %w", errExited, err))
				return
			}
		case <-w.dead():
			return
		}
	}
}

// read hands every line to whom it concerns, until the child closes its output or ends.
func (w *stdioWire) read() {
	defer func() { _ = w.child.stdout.Close() }()
	lines := newLineReader(w.child.stdout, w.limit)
	for {
		line, oversized, err := lines.next()
		if err != nil {
			w.fail(fmt.Errorf("%w: read: %w", errExited, err))
			return
		}
		if oversized {
			w.rejectOversized(line)
			continue
		}
		w.receive(line)
	}
}

func (w *stdioWire) rejectOversized(ends []byte) {
	id, known := oversizedID(ends)
	if !known {
		w.fail(errTooLarge)
		return
	}
	w.deliver(mcp.NewRequestId(id).String(), answer{err: errTooLarge})
}

func (w *stdioWire) receive(line []byte) {
	var message struct {
		ID     *mcp.RequestId  `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if len(line) > 0 && line[0] == '[' {
		w.receiveBatch(line)
		return
	}
	if err := json.Unmarshal(line, &message); err != nil {
		if len(line) > 0 {
			w.log.Debug("mcp server wrote a line that is no message", slog.Int("bytes", len(line)))
		}
		return
	}
	switch {
	case message.Method != "" && message.ID == nil:
		w.tell(line)
	case message.Method != "":
		w.serve(w.replies.to(*message.ID, message.Method, message.Params))
	case message.ID != nil:
		w.deliver(message.ID.String(), readAnswer(line))
	}
}

// receiveBatch takes a line of many messages apart, as protocol version 2025-03-26 allows.
func (w *stdioWire) receiveBatch(line []byte) {
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) != nil {
		return
	}
	for _, message := range batch {
		if message[0] == '{' {
			w.receive(message)
		}
	}
}

func readAnswer(line []byte) answer {
	var response transport.JSONRPCResponse
	if err := json.Unmarshal(line, &response); err != nil {
		return answer{err: fmt.Errorf("%w: %w", errUnreadable, err)}
	}
	if response.Result == nil && response.Error == nil {
		return answer{err: fmt.Errorf("%w: neither result nor error", errUnreadable)}
	}
	return answer{response: &response}
}

// deliver hands an answer to its caller. An answer nobody waits for any more is late and ignored.
func (w *stdioWire) deliver(id string, reply answer) {
	if replies := w.take(id); replies != nil {
		replies <- reply
	}
}

func (w *stdioWire) tell(line []byte) {
	var notification mcp.JSONRPCNotification
	if err := json.Unmarshal(line, &notification); err != nil {
		return
	}
	w.mu.Lock()
	notify := w.notify
	w.mu.Unlock()
	if notify != nil {
		notify(notification)
	}
}

// serve answers a request of the server.
func (w *stdioWire) serve(reply *transport.JSONRPCResponse) {
	message, err := encode(reply)
	if err != nil {
		return
	}
	select {
	case w.out <- append(message, '\n'):
	default: // a server that does not read gets no answer
	}
}
