package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
	"github.com/fastreact/fastreact/sdk"
)

// vector answers every query of Prometheus with one series.
const vector = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up"},"value":[1,"1"]}]}}`

// configured returns a plugin with a Prometheus, a log folder and a database that is not there.
func configured(t *testing.T, prometheus string, change func(*Config)) *Plugin {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, prometheus) }))
	t.Cleanup(server.Close)
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "app.log"), []byte("2026-11-30 12:00:00 error: pool empty\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	config := Config{
		Metrics: Metrics{URL: server.URL, Client: &http.Client{}}, Logs: Logs{Roots: []string{root}},
		MySQL: map[string]Datasource{"shop": {DSN: "canary:canary@tcp(127.0.0.1:1)/canary"}},
		Clock: func() time.Time { return time.Unix(1796040000, 0) },
	}
	if change != nil {
		change(&config)
	}
	plugin, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plugin.Close() })
	return plugin
}

func invoke(t *testing.T, plugin *Plugin, tool, arguments, callID string) sdk.Result {
	t.Helper()
	result, err := plugin.Invoke(t.Context(), tool, sdk.Call{Tool: tool, Args: json.RawMessage(arguments), RunID: "run", CallID: callID})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestToolsBelongToTheDiagnosis(t *testing.T) {
	plugin, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, tool := range plugin.Tools(t.Context()) {
		names = append(names, tool.Name)
		if tool.Profile != "diagnosis" || !json.Valid(tool.InputSchema) || tool.Description == "" {
			t.Errorf("%+v", tool)
		}
	}
	if diff := cmp.Diff([]string{"query_logs", "query_metrics", "query_mysql"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSourceThatIsNotConfiguredIsUnavailable(t *testing.T) {
	plugin, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for tool, arguments := range map[string]string{
		QueryMetrics: `{"query":"up"}`, QueryLogs: `{"query":"error"}`, QueryMySQL: `{"datasource":"shop","sql":"select 1"}`,
	} {
		result := invoke(t, plugin, tool, arguments, "1")
		if !result.IsError || !strings.HasPrefix(result.Content, "UNAVAILABLE: ") {
			t.Errorf("%s: %+v", tool, result)
		}
	}
}

func TestResultIsCanonicalEvidence(t *testing.T) {
	plugin := configured(t, vector, nil)
	result := invoke(t, plugin, QueryMetrics, `{"query":"up"}`, "call_1")
	var got fact.Answer
	if result.IsError || json.Unmarshal([]byte(result.Content), &got) != nil {
		t.Fatalf("%+v", result)
	}
	if !regexp.MustCompile(`^m-[0-9a-f]{8}-1$`).MatchString(got.Evidence[0].EvidenceID) {
		t.Error(got.Evidence[0].EvidenceID)
	}
	got.Evidence[0].EvidenceID = ""
	want := fact.Answer{Evidence: []fact.Item{{
		Source: "metrics", Title: "Metric up: 1 series", ObservedAt: "2026-11-30T12:00:00Z",
		Facts: []fact.Fact{{Name: "series", Value: "1"}, {Name: "up", Value: "1"}}, Excerpt: "up 1",
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEvidenceOfEveryCallHasItsOwnID(t *testing.T) {
	plugin, seen := configured(t, vector, nil), map[string]bool{}
	for i := range 200 {
		for tool, arguments := range map[string]string{QueryMetrics: `{"query":"up"}`, QueryLogs: `{"query":"error"}`} {
			var got fact.Answer
			if err := json.Unmarshal([]byte(invoke(t, plugin, tool, arguments, fmt.Sprint("call_", i)).Content), &got); err != nil {
				t.Fatal(err)
			}
			seen[got.Evidence[0].EvidenceID] = true
		}
	}
	if len(seen) != 400 {
		t.Errorf("%d ids", len(seen))
	}
}

func TestArgumentsThatNobodyCanReadAreRefused(t *testing.T) {
	plugin := configured(t, vector, nil)
	for _, arguments := range []string{``, `7`, `{"query":"up","QUERY":"down"}`, `{"query":`, `{}`, `{"canary":1}`} {
		for _, tool := range []string{QueryMetrics, QueryLogs, QueryMySQL} {
			if result := invoke(t, plugin, tool, arguments, "1"); !result.IsError || strings.Contains(result.Content, "canary") {
				t.Errorf("%s %s: %+v", tool, arguments, result)
			}
		}
	}
}

func TestUnknownToolIsAnError(t *testing.T) {
	if _, err := configured(t, vector, nil).Invoke(t.Context(), "query_files", sdk.Call{}); err == nil {
		t.Error("a tool that nobody knows was called")
	}
}

func TestAnswerHoldsToItsBounds(t *testing.T) {
	many := `{"status":"success","data":{"resultType":"vector","result":[`
	for i := range 300 {
		many += fmt.Sprintf(`{"metric":{"__name__":"m","label":"%s %d"},"value":[1,"%d"]},`, strings.Repeat("x", 600), i, i)
	}
	many = strings.TrimSuffix(many, ",") + "]}}"
	plugin := configured(t, many, func(c *Config) { c.Limits = Limits{AnswerBytes: 4000, ValueBytes: 100, ExcerptBytes: 500, Series: 200} })
	result := invoke(t, plugin, QueryMetrics, `{"query":"m"}`, "1")
	var got fact.Answer
	if err := json.Unmarshal([]byte(result.Content), &got); err != nil {
		t.Fatal(err)
	}
	if len(result.Content) > 4000 || len(got.Evidence[0].Excerpt) > 500 || !strings.Contains(got.Note, "facts were left out") ||
		!strings.Contains(got.Note, "100 further series") {
		t.Errorf("%d bytes, excerpt of %d, note %q", len(result.Content), len(got.Evidence[0].Excerpt), got.Note)
	}
}

func TestCallThatTakesTooLongIsEnded(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(hang)
	plugin := configured(t, vector, func(c *Config) {
		c.Metrics.URL, c.Limits.Timeout = server.URL, 50*time.Millisecond
	})
	result := invoke(t, plugin, QueryMetrics, `{"query":"up"}`, "1")
	if !result.IsError || result.Content != "UNAVAILABLE: Prometheus did not answer in time." {
		t.Errorf("%+v", result)
	}
}

// TestNothingOfASourceOrASettingIsLogged asks sources that fail, with secrets wherever one may stand.
func TestNothingOfASourceOrASettingIsLogged(t *testing.T) {
	var log bytes.Buffer
	plugin := configured(t, `{"status":"error","errorType":"canary","error":"canary"}`, func(c *Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.Logs.Roots = []string{filepath.Join(t.TempDir(), "canary")}
	})
	for tool, arguments := range map[string]string{
		QueryMetrics: `{"query":"canary"}`, QueryLogs: `{"query":"canary"}`, QueryMySQL: `{"datasource":"shop","sql":"select canary"}`,
	} {
		if result := invoke(t, plugin, tool, arguments, "1"); !result.IsError || strings.Contains(result.Content, "canary") {
			t.Errorf("%s: %+v", tool, result)
		}
	}
	if strings.Contains(log.String(), "canary") || !strings.Contains(log.String(), "evidence unavailable") {
		t.Error(log.String())
	}
}

func TestExaminationNamesEverySourceAndNoSecret(t *testing.T) {
	plugin := configured(t, vector, nil)
	got := map[string]string{}
	for _, one := range plugin.Check(t.Context()) {
		got[one.Name] = fmt.Sprint(one.Alive, " ", one.LastError)
	}
	want := map[string]string{"prometheus": "true ", "logs": "true ", "mysql shop": "false The database cannot be reached."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEveryProblemOfTheConfigIsReportedAtOnce(t *testing.T) {
	_, err := New(Config{
		Metrics: Metrics{URL: "ftp://canary"}, Logs: Logs{Roots: []string{"canary"}}, MySQL: map[string]Datasource{"shop": {DSN: "canary"}},
		Limits: Limits{Rows: -1, Timeout: -1, Series: -1},
	})
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Fatal(err)
	}
	for _, part := range []string{"prometheus:", "logs: root 1", "datasource shop", "rows must", "timeout must", "series must"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s is not in %v", part, err)
		}
	}
}
