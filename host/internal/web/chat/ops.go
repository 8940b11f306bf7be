package chat

import (
	"fmt"

	"github.com/fastreact/fastreact/host/internal/run"
)

// opsVoice tells a run in the words of /api/ai_ops: metadata, then messages: one content or one error, then done. The
// zero value with a sender is ready.
type opsVoice struct {
	to    sender
	phase phase
}

// opsMessage is one message of the stream.
type opsMessage struct {
	Type string  `json:"type"`
	Data *string `json:"data"`
}

func (v *opsVoice) begin(r run.Run) error {
	if v.phase != begins {
		return errOrder
	}
	v.phase = running
	return v.send("metadata", metadata{r.SessionID, r.ID})
}

func (v *opsVoice) tell(e run.Event) (over bool, err error) {
	switch e.Kind {
	case run.SessionEnd:
		answer, err := readContent(e.Content)
		if err != nil {
			return true, v.end("error", internalFailure.message())
		}
		return true, v.end("content", answer.markdown())
	case run.Errored:
		return true, v.end("error", failureOf(codeOf(e)).message())
	}
	return false, nil
}

func (v *opsVoice) fail(reason error) error {
	code, _ := run.Public(reason)
	return v.end("error", failureOf(code).message())
}

// end sends the last two messages.
func (v *opsVoice) end(kind, data string) error {
	if v.phase != running {
		return errOrder
	}
	if err := v.send("message", opsMessage{kind, &data}); err != nil {
		return err
	}
	err := v.send("message", opsMessage{Type: "done"})
	v.phase = over
	return err
}

func (v *opsVoice) keepAlive() error {
	if v.phase != running {
		return errOrder
	}
	return v.kept(v.to.KeepAlive())
}

func (v *opsVoice) leave() { v.phase = over }

func (v *opsVoice) send(event string, value any) error {
	return v.kept(v.to.SendUnnumbered(event, value))
}

// kept closes the stream after a write that failed.
func (v *opsVoice) kept(err error) error {
	if err == nil {
		return nil
	}
	v.leave()
	return fmt.Errorf("send message: %w", err)
}
