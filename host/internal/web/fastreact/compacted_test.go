package fastreact

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// shortened serves run-1 that lost its events before a sequence. The book is told so, but not the record, where the
// events go between the two looks of a reader.
func shortened(t *testing.T, first int64) (*book, *httptest.Server) {
	t.Helper()
	b := newBook(searched)
	server := open(t, b)
	call(t, server, "POST", "/v1/chat/completions", question+"}")
	b.change(run.Ref{Tenant: "pska", ID: "run-1"}, func(r *run.Run) { r.FirstSeq = first })
	return b, server
}

const compactedBody = `{"detail":"The events before 2 are not kept any more.","error":{"code":"events_compacted",` +
	`"message":"The events before 2 are not kept any more.","first_available_sequence":2}}`

func TestEventsThatAreNotKeptAreNeverLeftOutInSilence(t *testing.T) {
	_, server := shortened(t, 2)
	for _, path := range []string{
		"/v1/runs/run-1/events", "/v1/runs/run-1/events?after_sequence=-1", "/v1/runs/run-1/events?after_sequence=0",
		"/v1/traces/run-1/events", "/v1/runs/run-1/stream", "/v1/runs/run-1/stream?after_sequence=0",
	} {
		response, body := call(t, server, "GET", path, "")
		if response.StatusCode != 410 || body != compactedBody {
			t.Errorf("%s: %d %s", path, response.StatusCode, body)
		}
	}
	response, _ := call(t, server, "GET", "/v1/runs/run-1/stream", "", "Last-Event-ID", "0")
	if response.StatusCode != 410 {
		t.Errorf("Last-Event-ID: %d", response.StatusCode)
	}
}

func TestReadingGoesOnFromTheFirstEventThatIsKept(t *testing.T) {
	_, server := shortened(t, 2)
	_, body := call(t, server, "GET", "/v1/runs/run-1/stream?after_sequence=1", "")
	if diff := cmp.Diff(strings.Join(searchedStream()[2:], ""), body); diff != "" {
		t.Error(diff)
	}
	list := get(t, server, "/v1/runs/run-1/events?after_sequence=1")
	if diff := cmp.Diff([]any{2.0, 4.0, false}, []any{list["count"], list["total_event_count"], list["has_more"]}); diff != "" {
		t.Error(diff)
	}
	record := get(t, server, "/v1/runs/run-1")
	if diff := cmp.Diff([]any{2.0, 4.0}, []any{record["min_sequence"], record["event_count"]}); diff != "" {
		t.Error(diff)
	}
}

func TestARequestThatComesAgainForAShortenedRunIsToldSo(t *testing.T) {
	b, server := shortened(t, 2)
	b.repeats = "run-1"
	for _, stream := range []string{"true", "false"} {
		response, body := call(t, server, "POST", "/v1/chat/completions", question+`,"stream":`+stream+"}")
		if response.StatusCode != 410 || body != compactedBody {
			t.Errorf("stream %s: %d %s", stream, response.StatusCode, body)
		}
	}
}

// late is a book whose record of a run is older than its events.
type late struct{ *book }

func (l late) Runs(ctx context.Context, filter run.Filter) (run.Page[run.Run], error) {
	page, err := l.book.Runs(ctx, filter)
	for i := range page.Items {
		page.Items[i].FirstSeq = 0
	}
	return page, err
}

func TestEventsThatGoBetweenTwoLooksAreNotLeftOut(t *testing.T) {
	b, _ := shortened(t, 2)
	server := open(t, b, func(cfg *Config, _ *web.Config) { cfg.Records = late{b} })
	response, body := call(t, server, "GET", "/v1/runs/run-1/events", "")
	if response.StatusCode != 410 || body != compactedBody {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	_, body = call(t, server, "GET", "/v1/runs/run-1/stream", "")
	if body != "" {
		t.Errorf("a stream that cannot be whole looks so: %s", body)
	}
}
