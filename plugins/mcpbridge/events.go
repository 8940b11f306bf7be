package mcpbridge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// eventBody reads a stream of server-sent events, bounds each, and lets through what the library can cope with:
// notifications, requests of the server, and the one answer that is waited for, after which the stream is over. Every
// other answer is dropped: the library takes the first one it sees for the right one, and is stuck at a second.
type eventBody struct {
	body   io.ReadCloser
	lines  *bufio.Reader
	limit  int
	answer string // id of the request whose answer may pass, as JSON; empty lets none pass
	ready  []byte // of the current event, not read yet
	err    error  // what comes after it
}

func newEventBody(body io.ReadCloser, limit int, answer string) *eventBody {
	return &eventBody{body: body, lines: bufio.NewReader(body), limit: limit, answer: answer}
}

// Read reads what may pass.
func (b *eventBody) Read(buffer []byte) (int, error) {
	for len(b.ready) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.advance()
	}
	n := copy(buffer, b.ready)
	b.ready = b.ready[n:]
	return n, nil
}

// advance reads one event and keeps it if it may pass.
func (b *eventBody) advance() {
	var event, data []byte
	for b.err == nil {
		line, err := b.lines.ReadSlice('\n')
		whole := err == nil
		if event = append(event, line...); len(event) > b.limit {
			b.err = errTooLarge
			return
		}
		if err != nil && err != bufio.ErrBufferFull {
			b.err = err
		}
		if whole && len(bytes.TrimRight(line, "\r\n")) == 0 && endsEvent(event, line) {
			break
		}
	}
	for line := range bytes.Lines(event) {
		if text, is := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("data:")); is {
			data = append(append(data, bytes.TrimPrefix(text, []byte(" "))...), '\n')
		}
	}
	pass, last := b.judge(data)
	if pass {
		b.ready = event
	}
	if last {
		b.err = io.EOF
	}
}

// endsEvent reports whether the line that was read last, at the end of an event, is an empty one and not the end of a
// line that was longer than the buffer.
func endsEvent(event, line []byte) bool {
	before := event[:len(event)-len(line)]
	return len(before) == 0 || before[len(before)-1] == '\n'
}

// judge says whether an event with this data may pass, and whether it is the answer.
func (b *eventBody) judge(data []byte) (pass, last bool) {
	if len(bytes.TrimSpace(data)) == 0 {
		return true, false // it tells where to go on
	}
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method *string         `json:"method"`
	}
	switch {
	case json.Unmarshal(data, &message) != nil:
		return false, false
	case message.Method != nil:
		return true, false
	}
	last = b.answer != "" && string(message.ID) == b.answer
	return last, last
}

// Close closes the stream.
func (b *eventBody) Close() error { return b.body.Close() }
