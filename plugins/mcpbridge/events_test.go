package mcpbridge

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestEventStreamIsBoundedEventByEvent(t *testing.T) {
	b := newEventBody(io.NopCloser(strings.NewReader(strings.Repeat("data: {\"method\":\"m\"}\r\n\r\n", 100)+"data: "+strings.Repeat("x", 50))), 40, "")
	read, err := io.ReadAll(b)
	if !errors.Is(err, errTooLarge) || len(read) != 2400 {
		t.Errorf("read %d bytes, %v", len(read), err)
	}
}

func TestOnlyTheAnswerThatIsWaitedForPasses(t *testing.T) {
	const (
		prime    = "id: 1\nretry: 500\ndata:\n\n"
		notice   = "event: message\ndata: {\"method\":\"notifications/progress\"}\n\n"
		question = "data: {\"id\":7,\"method\":\"ping\"}\r\n\r\n"
		foreign  = "data: {\"id\":8,\"result\":{}}\n\n"
		garbage  = "data: {\n\n"
		answer   = "data: {\"id\":7,\ndata: \"result\":{}}\n\n"
		comment  = ": keepalive\n\n"
	)
	long := "data: {\"method\":\"" + strings.Repeat("x", 10_000) + "\"}\n\n"
	stream := prime + notice + foreign + comment + question + garbage + long + answer + notice + answer
	read, err := io.ReadAll(newEventBody(io.NopCloser(iotest.OneByteReader(strings.NewReader(stream))), 1<<20, "7"))
	if diff := cmp.Diff(prime+notice+comment+question+long+answer, string(read)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestEventThatEndsWithItsStreamPasses(t *testing.T) {
	const answer = `data: {"id":7,"result":{}}`
	read, err := io.ReadAll(newEventBody(io.NopCloser(strings.NewReader(answer)), 1<<20, "7"))
	if string(read) != answer || err != nil {
		t.Errorf("read %q, %v", read, err)
	}
}

func FuzzEventBody(f *testing.F) {
	f.Add("id: 1\ndata: {\"id\":7}\n\ndata:x\r\n\r\n", "7")
	f.Fuzz(func(t *testing.T, stream, answer string) {
		read, err := io.ReadAll(newEventBody(io.NopCloser(strings.NewReader(stream)), 100, answer))
		if err == nil && len(read) > len(stream) {
			t.Errorf("read %q of %q", read, stream)
		}
	})
}
