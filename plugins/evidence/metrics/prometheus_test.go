package metrics

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
	"github.com/fastreact/fastreact/testdata/peers"
)

const rules = `
groups:
  - name: service
    rules:
      - alert: HighErrorRate
        expr: errors_in_flight > 40
        labels: {severity: critical}
        annotations: {summary: too many errors}
      - alert: NeverFires
        expr: errors_in_flight > 4000
`

// scraped is what the service under observation shows.
const scraped = `# TYPE errors_in_flight gauge
errors_in_flight{path="/checkout"} 42
errors_in_flight{path="/home"} 1
# TYPE request_duration_seconds gauge
request_duration_seconds{path="/a\"b\\c",zone="eu"} 0.125
odd_value{kind="nan"} NaN
odd_value{kind="inf"} +Inf
odd_value{kind="fine"} 7
`

// real is the one Prometheus of this package's tests, with the service that it scrapes.
type real struct {
	prometheus *peers.Prometheus
	service    *httptest.Server
}

var server = sync.OnceValues(func() (real, error) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = fmt.Fprint(w, scraped)
		for i := range 50 {
			_, _ = fmt.Fprintf(w, "many{n=\"%02d\"} %d\n", i, i)
		}
	}))
	prometheus, err := peers.StartPrometheus(rules, strings.TrimPrefix(service.URL, "http://"))
	if err != nil {
		service.Close()
	}
	return real{prometheus, service}, err
})

// started says whether the server was asked for.
var started atomic.Bool

func TestMain(m *testing.M) {
	code := m.Run()
	if started.Load() {
		stop()
	}
	os.Exit(code)
}

func stop() {
	if one, err := server(); err == nil {
		_ = one.prometheus.Stop()
		one.service.Close()
	}
}

// prometheus returns a source that asks the real server, once it has scraped the service and an alert fires.
func prometheus(t *testing.T, change func(*Config)) *Source {
	t.Helper()
	started.Store(true)
	one, err := server()
	if errors.Is(err, peers.ErrMissing) {
		peers.Missing(t, "prometheus")
	}
	if err != nil {
		t.Fatal(err)
	}
	source := sourceAt(t, one.prometheus.URL, change)
	deadline := time.Now().Add(30 * time.Second)
	for {
		answer, err := ask(t.Context(), source, map[string]any{"query": `ALERTS{alertstate="firing"}`})
		if err != nil {
			t.Fatal(err, errors.Unwrap(err), one.prometheus.Log())
		}
		if answer.Evidence[0].Facts[0].Value == "1" {
			return source
		}
		if time.Now().After(deadline) {
			t.Fatalf("no alert fires\n%s", one.prometheus.Log())
		}
	}
}

func TestSeriesBecomeFacts(t *testing.T) {
	got, note := item(t, prometheus(t, nil), map[string]any{"query": "errors_in_flight"})
	name := func(path string) string {
		one, _ := server()
		return fmt.Sprintf(`errors_in_flight{instance=%q, job="service", path=%q}`, strings.TrimPrefix(one.service.URL, "http://"), path)
	}
	want := fact.Item{
		Source: "metrics", Title: "Metric errors_in_flight: 2 series",
		Facts: []fact.Fact{
			{Name: "series", Value: "2"}, {Name: name("/checkout"), Value: "42"}, {Name: name("/home"), Value: "1"},
		},
		Excerpt: name("/checkout") + " 42\n" + name("/home") + " 1",
	}
	at, err := time.Parse(time.RFC3339, got.ObservedAt)
	if err != nil || time.Since(at) > time.Minute {
		t.Errorf("observed at %s", got.ObservedAt)
	}
	got.ObservedAt = ""
	if diff := cmp.Diff(want, got); diff != "" || note != "" {
		t.Errorf("(-want +got):\n%s note %q", diff, note)
	}
}

func TestFiringAlertIsASeries(t *testing.T) {
	got, _ := item(t, prometheus(t, nil), map[string]any{"query": `ALERTS{alertstate="firing"}`})
	if got.Title != "Metric ALERTS: 1 series" || !strings.Contains(got.Facts[1].Name, `alertname="HighErrorRate"`) ||
		!strings.Contains(got.Facts[1].Name, `severity="critical"`) {
		t.Errorf("%+v", got)
	}
}

func TestUnitIsReadOffTheName(t *testing.T) {
	got, _ := item(t, prometheus(t, nil), map[string]any{"query": `request_duration_seconds`})
	if got.Facts[1].Unit != "s" || got.Facts[1].Value != "0.125" || !strings.Contains(got.Facts[1].Name, `path="/a\"b\\c"`) {
		t.Errorf("%+v", got.Facts)
	}
}

func TestNoSeriesIsEvidenceToo(t *testing.T) {
	got, note := item(t, prometheus(t, nil), map[string]any{"query": `ALERTS{alertname="NeverFires"}`})
	if got.Title != "Metrics: no series" || got.Facts[0] != (fact.Fact{Name: "series", Value: "0"}) || !strings.HasPrefix(note, "No series matches") {
		t.Errorf("%+v, note %q", got, note)
	}
}

func TestSeriesBeyondTheBoundAreCountedNotNamed(t *testing.T) {
	got, note := item(t, prometheus(t, nil), map[string]any{"query": "sort_desc(many)"})
	if len(got.Facts) != 21 || got.Facts[0].Value != "50" || got.Facts[1].Value != "49" || !strings.HasPrefix(note, "30 further series") {
		t.Errorf("%d facts, %+v, note %q", len(got.Facts), got.Facts[:2], note)
	}
}

func TestSamplesThatAreNoFiniteNumbersAreSaid(t *testing.T) {
	got, note := item(t, prometheus(t, nil), map[string]any{"query": "sum by (kind) (odd_value)"})
	values := map[string]string{}
	for _, one := range got.Facts[1:] {
		values[one.Name] = one.Value
	}
	want := map[string]string{`{kind="nan"}`: "NaN", `{kind="inf"}`: "+Inf", `{kind="fine"}`: "7"}
	if diff := cmp.Diff(want, values); diff != "" || !strings.HasPrefix(note, "2 samples are no finite numbers") {
		t.Errorf("(-want +got):\n%s note %q", diff, note)
	}
}

func TestRangeIsSummedUp(t *testing.T) {
	source := prometheus(t, nil)
	got, _ := item(t, source, map[string]any{"query": `sum(errors_in_flight)`, "start": "-10s", "end": "now", "step": "1s"})
	facts := map[string]string{}
	for _, one := range got.Facts {
		facts[one.Name] = one.Value
	}
	if got.Title != "Metrics over 10s: 1 series" || facts["last of value"] != "43" || facts["minimum of value"] != "43" ||
		facts["maximum of value"] != "43" || facts["mean of value"] != "43" {
		t.Errorf("%+v", got)
	}
}

func TestScalarIsASeries(t *testing.T) {
	got, _ := item(t, prometheus(t, nil), map[string]any{"query": "1 + scalar(absent(nothing))", "time": 1796040000})
	if got.Facts[1] != (fact.Fact{Name: "value", Value: "2"}) || got.ObservedAt != "2026-11-30T12:00:00Z" {
		t.Errorf("%+v", got)
	}
}

func TestWrongPromQLIsRefusedInOurWords(t *testing.T) {
	source := prometheus(t, nil)
	for query, want := range map[string]string{
		"canary{": "no valid PromQL", "canary canary": "no valid PromQL", "sum(": "no valid PromQL", `{job=~".*"}`: "no valid PromQL",
		"errors_in_flight * on(job) odd_value": "could not evaluate",
	} {
		_, err := ask(t.Context(), source, map[string]any{"query": query})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestServerThatAnswersPassesTheCheck(t *testing.T) {
	if err := prometheus(t, nil).Check(t.Context()); err != nil {
		t.Error(err)
	}
}
