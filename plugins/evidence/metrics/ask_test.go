package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
	"github.com/fastreact/fastreact/sdk"
)

func sourceAt(t *testing.T, url string, change func(*Config)) *Source {
	t.Helper()
	config := Config{
		URL: url, Client: &http.Client{}, Clock: time.Now, Series: 20, Samples: 500, ResponseBytes: 1 << 20, Excerpt: 2048,
	}
	if change != nil {
		change(&config)
	}
	source, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func ask(ctx context.Context, source *Source, arguments map[string]any) (fact.Answer, error) {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return fact.Answer{}, err
	}
	args, err := sdk.ReadArgs(raw)
	if err != nil {
		return fact.Answer{}, err
	}
	return source.Ask(ctx, args)
}

func item(t *testing.T, source *Source, arguments map[string]any) (fact.Item, string) {
	t.Helper()
	answer, err := ask(t.Context(), source, arguments)
	if err != nil {
		t.Fatal(err, errors.Unwrap(err))
	}
	if len(answer.Evidence) != 1 {
		t.Fatalf("%d items", len(answer.Evidence))
	}
	return answer.Evidence[0], answer.Note
}

// says is a server that answers everything in one way.
func says(t *testing.T, status int, body string) *Source {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return sourceAt(t, server.URL, nil)
}

func TestNothingConfiguredIsUnavailable(t *testing.T) {
	source, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t.Context(), source, map[string]any{"query": "up"}); err == nil || !strings.HasPrefix(err.Error(), "UNAVAILABLE") {
		t.Error(err)
	}
}

func TestServerThatIsNotThereIsUnavailable(t *testing.T) {
	_, err := ask(t.Context(), sourceAt(t, "http://127.0.0.1:1/canary", nil), map[string]any{"query": "up"})
	if err == nil || err.Error() != "UNAVAILABLE: Prometheus cannot be reached." {
		t.Error(err)
	}
}

func TestAnswerThatIsNoneOfTheAPIIsUnavailable(t *testing.T) {
	for body, status := range map[string]int{
		"<html>canary</html>": 502, "canary": 200, `{"status":"error","errorType":"canary","error":"canary"}`: 500, `{}`: 200,
		`{"status":"success","data":{"resultType":"canary","result":[]}}`:                              200,
		`{"status":"success","data":{"resultType":"vector","result":[{"value":[1]}]}}`:                 200,
		`{"status":"success","data":{"resultType":"vector","result":[{"value":["canary","1"]}]}}`:      200,
		`{"status":"success","data":{"resultType":"vector","result":{"canary":1}}}`:                    200,
		`{"status":"error","errorType":"canceled","error":"canary"}`:                                   503,
		`{"status":"success","data":{"resultType":"vector","result":[{"value":[1,{"canary":true}]}]}}`: 200,
	} {
		_, err := ask(t.Context(), says(t, status, body), map[string]any{"query": "up"})
		if err == nil || !strings.HasPrefix(err.Error(), "UNAVAILABLE") || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestErrorOfTheServerIsToldInOurWords(t *testing.T) {
	for kind, want := range map[string]string{"bad_data": "no valid PromQL", "timeout": "too long", "execution": "could not evaluate"} {
		body := fmt.Sprintf(`{"status":"error","errorType":%q,"error":"canary"}`, kind)
		_, err := ask(t.Context(), says(t, 422, body), map[string]any{"query": "up"})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	reached := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	_, err := ask(t.Context(), sourceAt(t, server.URL, nil), map[string]any{"query": "up"})
	if err == nil || !strings.Contains(err.Error(), "redirect") || reached {
		t.Errorf("%v, reached %v", err, reached)
	}
}

func TestAnswerBeyondTheBytesIsRefused(t *testing.T) {
	_, err := ask(t.Context(), says(t, 200, strings.Repeat("x", 1<<20+1)), map[string]any{"query": "up"})
	if err == nil || !strings.Contains(err.Error(), "more to answer than is read") {
		t.Error(err)
	}
}

func TestServerThatHangsIsNotWaitedFor(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(hang)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := ask(ctx, sourceAt(t, server.URL, nil), map[string]any{"query": "up"})
	if err == nil || err.Error() != "UNAVAILABLE: Prometheus did not answer in time." {
		t.Error(err)
	}
}

// seen returns the form of the one request that arguments cause.
func seen(t *testing.T, base string, arguments map[string]any) (path string, form map[string]string) {
	t.Helper()
	form = map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		path = r.URL.Path
		for name := range r.PostForm {
			form[name] = r.PostForm.Get(name)
		}
		_, _ = fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
	}))
	defer server.Close()
	source := sourceAt(t, server.URL+base, func(c *Config) { c.Clock = func() time.Time { return time.Unix(1796040000, 0) } })
	if _, err := ask(t.Context(), source, arguments); err != nil {
		t.Fatal(err)
	}
	return path, form
}

func TestQuestionIsSentAsPrometheusReadsIt(t *testing.T) {
	for _, c := range []struct {
		base      string
		arguments map[string]any
		path      string
		form      map[string]string
	}{
		{"", map[string]any{"query": " up "}, "/api/v1/query", map[string]string{"query": "up", "time": "1796040000.000"}},
		{"/prom/", map[string]any{"query": "up", "time": "-15m"}, "/prom/api/v1/query", map[string]string{"query": "up", "time": "1796039100.000"}},
		{"", map[string]any{"query": "up", "time": "2026-11-30T12:00:00.5Z"}, "/api/v1/query", map[string]string{"query": "up", "time": "1796040000.500"}},
		{"", map[string]any{"query": "up", "start": "now-1h"}, "/api/v1/query_range", map[string]string{
			"query": "up", "start": "1796036400.000", "end": "1796040000.000", "step": "60.000",
		}},
		{"", map[string]any{"query": "up", "start": "1d", "end": "1796040000", "step": "15s"}, "/api/v1/query_range", map[string]string{
			"query": "up", "start": "1795953600.000", "end": "1796040000.000", "step": "172.801",
		}},
		{"", map[string]any{"query": "up", "start": 1796039999, "step": 0.5}, "/api/v1/query_range", map[string]string{
			"query": "up", "start": "1796039999.000", "end": "1796040000.000", "step": "0.500",
		}},
	} {
		path, form := seen(t, c.base, c.arguments)
		if diff := cmp.Diff(c.form, form); diff != "" || path != c.path {
			t.Errorf("%v: %s (-want +got):\n%s", c.arguments, path, diff)
		}
	}
}

func TestArgumentsThatMakeNoQuestionAreRefused(t *testing.T) {
	source := says(t, 200, "")
	for _, arguments := range []map[string]any{
		{},
		{"query": ""},
		{"query": 1},
		{"query": "up", "end": "now"},
		{"query": "up", "step": "1s"},
		{"query": "up", "url": "http://x"},
		{"query": "up", "start": "now", "end": "-1h"},
		{"query": "up", "start": "-1h", "time": "now"},
		{"query": "up", "time": "soon"},
		{"query": "up", "start": "-1h", "step": "0s"},
		{"query": "up", "start": "-1h", "step": "x"},
		{"query": "up", "time": 1e300},
		{"query": strings.Repeat("x", 4097)},
		{"query": "up", "start": "-1h", "step": -1},
	} {
		_, err := ask(t.Context(), source, arguments)
		var refusal *fact.Refusal
		if !errors.As(err, &refusal) || refusal.Unavailable {
			t.Errorf("%v: %v", arguments, err)
		}
	}
}

func TestSeriesThatEndsEarlyIsSaid(t *testing.T) {
	body := `{"status":"success","warnings":["canary"],"data":{"resultType":"matrix","result":[{"metric":{"__name__":"a_bytes"},"values":` +
		`[[1796036400,"1"],[1796036460,"NaN"],[1796036520,"3"]]},{"metric":{},"histograms":[[1,{}]]}]}}`
	got, note := item(t, says(t, 200, body), map[string]any{"query": "a_bytes", "start": 1796036400, "end": 1796040000, "step": 60})
	want := []fact.Fact{
		{Name: "series", Value: "2"},
		{Name: "first of a_bytes", Value: "1", Unit: "bytes"},
		{Name: "last of a_bytes", Value: "3", Unit: "bytes"},
		{Name: "minimum of a_bytes", Value: "1", Unit: "bytes"},
		{Name: "maximum of a_bytes", Value: "3", Unit: "bytes"},
		{Name: "time of maximum of a_bytes", Value: "2026-11-30T11:02:00Z"},
		{Name: "mean of a_bytes", Value: "2", Unit: "bytes"},
		{Name: "samples of a_bytes", Value: "3"},
		{Name: "end of a_bytes", Value: "2026-11-30T11:02:00Z"},
	}
	if diff := cmp.Diff(want, got.Facts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, part := range []string{"warnings", "1 samples are no finite numbers", "Native histograms"} {
		if !strings.Contains(note, part) || strings.Contains(note, "canary") {
			t.Errorf("note %q", note)
		}
	}
}

func TestTitleShowsNoLabelAndNoOddName(t *testing.T) {
	for metric, want := range map[string]string{
		`{"__name__":"up","secret":"canary"}`: "Metric up: 1 series", `{"secret":"canary"}`: "Metrics: 1 series",
		`{"__name__":"canary secret name"}`: "Metrics: 1 series",
	} {
		body := `{"status":"success","data":{"resultType":"vector","result":[{"metric":` + metric + `,"value":[1,"1"]}]}}`
		if got, _ := item(t, says(t, 200, body), map[string]any{"query": "up"}); got.Title != want {
			t.Errorf("%s: %q", metric, got.Title)
		}
	}
}

func TestTitleShowsNoNameThatTheQueryMade(t *testing.T) {
	body := `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"canary"},"value":[1,"1"]}]}}`
	for _, query := range []string{`label_replace(up, "__name__", "canary", "", "")`, `LABEL_JOIN (up, "__name__", "", "secret")`} {
		if got, _ := item(t, says(t, 200, body), map[string]any{"query": query}); got.Title != "Metrics: 1 series" {
			t.Errorf("%s: %q", query, got.Title)
		}
	}
}

func TestAddressThatHoldsMoreThanAPlaceIsRefused(t *testing.T) {
	for _, url := range []string{"http://u:canary@h", "ftp://canary", "canary", "http://h?canary=1", "http://h#canary", "http://%zzcanary"} {
		if _, err := New(Config{URL: url, Client: &http.Client{}}); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := New(Config{URL: "http://h"}); err == nil {
		t.Error("a source without a client was made")
	}
}

func FuzzAnswerIsReadOrRefused(f *testing.F) {
	f.Add([]byte(`[{"metric":{"a":"b"},"value":[1,"2"]}]`), "vector")
	f.Add([]byte(`[{"metric":{"a":"b"},"values":[[1,"2"],[2,"NaN"]]}]`), "matrix")
	f.Add([]byte(`[1.5,"x"]`), "scalar")
	f.Fuzz(func(t *testing.T, raw []byte, kind string) {
		all, err := decode(kind, raw)
		if err != nil {
			return
		}
		source := &Source{config: Config{Series: 3, Excerpt: 100}}
		for _, start := range []time.Time{{}, time.Unix(1, 0)} {
			answer := source.answer(question{at: time.Unix(100, 0), start: start, step: time.Second}, reply{series: all})
			if len(answer.Evidence) != 1 {
				t.Errorf("%d items", len(answer.Evidence))
			}
		}
	})
}
