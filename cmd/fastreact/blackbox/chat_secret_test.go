package blackbox

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// canaries are planted where a service must not take them from: each is spelled as secrets of that place are.
var canaries = map[string]string{
	"prompt": "canary-of-the-prompt", "sql": "canary_of_the_sql", "log file": "canary-of-the-log",
	"metric label": "canary-of-the-label", "vendor error": "canary-of-the-vendor", "guard reason": "canary-from-a-guest",
	"stack": "canary-of-the-query", "path": "canary-of-the-path", "dsn": "canary-of-the-dsn",
}

// TestSecretsAreInNoByteOfAnyOutcome is the seed's "Failure sanitization": it plants a secret in every place that a run reads or that fails, and looks for it in
// every byte that leaves and in the log.
func TestSecretsAreInNoByteOfAnyOutcome(t *testing.T) {
	t.Parallel()
	metrics := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.FormValue("query"), "broken") {
			http.Error(w, `{"status":"error","errorType":"execution","error":"canary-of-the-vendor"}`, http.StatusUnprocessableEntity)
			return
		}
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up","password":"canary-of-the-label"},"value":[1780246800,"1"]}]}}`)
	}))
	t.Cleanup(metrics.Close)
	folder := filepath.Join(t.TempDir(), canaries["path"])
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "app.log"), []byte(faultLine+" token=canary-of-the-log\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	asks := []wish{
		{"call_1", "query_logs", `{"query":"checkout"}`},
		{"call_2", "query_metrics", `{"query":"up{x=\"canary-of-the-query\"}"}`},
		{"call_3", "query_metrics", `{"query":"broken canary-of-the-query"}`},
		{"call_4", "query_mysql", `{"datasource":"shop","sql":"SELECT canary_of_the_sql FROM x"}`},
		{"call_5", "query_mysql", `{"datasource":"shop","sql":"SELECT canary_of_the_sql FROM DUAL INTO OUTFILE '/tmp/x'"}`},
	}
	model := httptest.NewServer(nil)
	t.Cleanup(model.Close)
	journal := &scriptedModel{Server: model}
	model.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := journal.take(r)
		_, word, _ := strings.Cut(a.opening(), ": ")
		switch {
		case strings.HasPrefix(word, "vendor"):
			http.Error(w, `{"error":{"message":"canary-of-the-vendor","type":"invalid_request_error"}}`, http.StatusBadRequest)
		case strings.HasPrefix(word, "cut"):
			panic(http.ErrAbortHandler)
		case len(a.Tools) > 0 && len(a.toolResults()) == 0:
			stream(w, said{text: "I think of canary-of-the-prompt.", calls: asks})
		case strings.HasPrefix(word, "repeat"): // everything that it was told
			stream(w, said{text: draft(trueWords+strings.Join(a.toolResults(), " "), a.opening()+a.system(), a.cited()...)})
		default:
			stream(w, reporting(a, trueWords+" behave:"+strings.Fields(word)[0]+";"))
		}
	})
	more := fmt.Sprintf("harness: {chat: {evidence: {prometheus: {url: %q}, logs: {roots: [%q]}, mysql: {datasources: {shop: {dsn_env: SHOP_DSN}}}}}}\n",
		metrics.URL, folder)
	s := start(t, journal, loading(t, "guard", "")+more, "SHOP_DSN=reader:canary-of-the-dsn@tcp(127.0.0.1:1)/shop")
	for _, word := range []string{"true", "repeat", "vendor", "cut", "reject", "fallback", "blab", "trap"} {
		query := "Diagnose checkout: " + word + " canary-of-the-prompt"
		for _, v := range []*visit{
			s.chats(query), s.visit("/api/ai_ops", map[string]any{"alert": "X: " + word + " canary-of-the-prompt"}),
		} {
			if v.status != http.StatusOK || len(v.of("metadata")) != 1 {
				t.Errorf("%s: %d %s", word, v.status, v.raw)
			}
			for place, secret := range canaries {
				if strings.Contains(v.raw, secret) {
					t.Errorf("%s: the secret of the %s leaves:\n%s", word, place, v.raw)
				}
			}
		}
	}
	for _, body := range []string{`{"query":5,"canary-of-the-prompt":1}`, `{"query":"canary-of-the-prompt`} {
		if v := s.visit("/api/chat", body); v.status != http.StatusBadRequest || strings.Contains(v.raw, "canary") {
			t.Errorf("%d %s", v.status, v.raw)
		}
	}
	for place, secret := range canaries {
		if text := s.output.String(); strings.Contains(text, secret) {
			at := strings.Index(text, secret)
			t.Errorf("the secret of the %s is in the log: …%s…", place, text[max(0, at-300):min(len(text), at+100)])
		}
	}
}
