package blackbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/testdata/attack"
	"github.com/fastreact/fastreact/testdata/peers"
)

// shop is a database with a slow table, and an account that reads it.
func startShop(t *testing.T) *peers.MariaDB {
	t.Helper()
	db, err := peers.StartMariaDB()
	if errors.Is(err, peers.ErrMissing) {
		peers.Missing(t, "mariadb-server")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Stop() })
	if out, err := db.SQL(`CREATE DATABASE shop; USE shop;
CREATE TABLE requests (id INT PRIMARY KEY, path VARCHAR(40), ms INT);
INSERT INTO requests SELECT seq, IF(seq % 4 = 0, 'checkout', 'search'), IF(seq % 4 = 0, 2400 - seq, 20) FROM seq_1_to_400;
INSERT INTO requests VALUES (1000, 'checkout', 2437);
DELIMITER //
CREATE FUNCTION bump() RETURNS INT DETERMINISTIC MODIFIES SQL DATA BEGIN DELETE FROM requests; RETURN 1; END//
DELIMITER ;
CREATE USER reader@'127.0.0.1' IDENTIFIED BY 'reads-only'; GRANT SELECT ON shop.requests TO reader@'127.0.0.1';`); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return db
}

const firingRule = `groups:
- name: service
  rules:
  - alert: ServiceHasRuns
    expr: fastreact_runs{job="service"} > 0
    labels: {severity: page}
`

// startWatched starts the service and a Prometheus that scrapes it, which the service asks in turn.
func startWatched(t *testing.T, model *scriptedModel, db *peers.MariaDB, more string) (s *service, logs string) {
	t.Helper()
	port := freePort(t)
	watch, err := peers.StartPrometheus(firingRule, "127.0.0.1:"+port)
	if errors.Is(err, peers.ErrMissing) {
		peers.Missing(t, "prometheus")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = watch.Stop() })
	logs = logFolder(t)
	settings := fmt.Sprintf("harness: {chat: {max_tool_calls: 1000, evidence: {prometheus: {url: %q}, logs: {roots: [%q]}, "+
		"mysql: {datasources: {shop: {dsn_env: SHOP_DSN}}}}%s}}\n", watch.URL, logs, more)
	s = startEdited(t, model, func(config string) string {
		return strings.Replace(config, "127.0.0.1:0", "127.0.0.1:"+port, 1) + settings
	}, "SHOP_DSN="+db.DSN("reader", "reads-only", "shop"))
	return s, logs
}

// threeFindings is a report with one finding of each source, in the order of metrics, logs, database.
func threeFindings(a asked, slowest string) said {
	ids := a.cited()
	if len(ids) != 3 {
		return said{text: "There is no evidence: " + strings.Join(a.toolResults(), "\n")}
	}
	finding := func(i int, severity, statement string) any {
		return map[string]any{"statement": statement, "severity": severity, "evidence_ids": []string{ids[i]}}
	}
	raw, _ := json.Marshal(map[string]any{
		"summary": "Checkout is slow and fails with status 503.",
		"findings": []any{
			finding(0, "critical", `The alert "ServiceHasRuns" is firing.`), finding(1, "critical", trueWords),
			finding(2, "warning", "The slowest checkout request took "+slowest+" ms."),
		},
		"likely_cause": "The payment service does not answer.", "recommended_actions": []string{"Ask the payment service."},
	})
	return said{text: string(raw)}
}

// diagnoses looks at all three sources, and reports what it saw or an invented number.
func diagnoses(a asked) said {
	if len(a.toolResults()) == 0 && len(a.Tools) > 0 {
		return said{calls: []wish{
			{"call_1", "query_metrics", `{"query":"ALERTS{alertstate=\"firing\"}"}`},
			{"call_2", "query_logs", `{"query":"/error.*failed/i"}`},
			{"call_3", "query_mysql", `{"datasource":"shop","sql":"SELECT path, MAX(ms) AS slowest_ms FROM requests GROUP BY path ORDER BY 2 DESC"}`},
		}}
	}
	if strings.Contains(a.opening(), "invent") {
		return threeFindings(a, "2438")
	}
	return threeFindings(a, "2437")
}

// TestADiagnosisCitesWhatRealServersSaid asks a Prometheus that scrapes this service, log files and a MariaDB. The model
// is scripted; everything it is told is not.
func TestADiagnosisCitesWhatRealServersSaid(t *testing.T) {
	t.Parallel()
	model := newModel(t, func(a asked) said {
		if strings.Contains(a.opening(), "attack") {
			return attacks(a)
		}
		return diagnoses(a)
	})
	db := startShop(t)
	s, logs := startWatched(t, model, db, "")
	s.chats("Hello") // one run, so that the alert fires
	s.awaitAlert()
	for query, want := range map[string]string{
		"Diagnose checkout": orderOfReport, "Diagnose checkout and invent": orderOfFallback,
	} {
		t.Run(query, func(t *testing.T) {
			v := s.in(t).chats(query)
			if diff := cmp.Diff(want, v.order()); diff != "" {
				requests := model.requests()
				t.Errorf("order (-want +got):\n%s\n%s\nthe model was told %q", diff, v.raw, requests[len(requests)-1].toolResults())
			}
			if want == orderOfReport {
				expectThreeSources(t, v.one("content")["payload"].(map[string]any))
			}
		})
	}
	t.Run("query_mysql is attacked", func(t *testing.T) { attackShop(t, s.in(t), db, logs) })
}

func expectThreeSources(t *testing.T, payload map[string]any) {
	t.Helper()
	sources := map[any]bool{}
	for _, item := range payload["evidence"].([]any) {
		sources[item.(map[string]any)["source"]] = true
	}
	if len(payload["findings"].([]any)) != 3 || !sources["metrics"] || !sources["logs"] || !sources["mysql"] {
		t.Errorf("%s", mustJSON(t, payload))
	}
}

// awaitAlert waits until the service itself can see the alert that it fires.
func (s *service) awaitAlert() {
	s.t.Helper()
	s.await(30*time.Second, func() (bool, string) {
		v := s.chats("Diagnose checkout")
		return v.one("done")["outcome"] == "SUCCESS", "no diagnosis succeeds: " + v.raw
	})
}

// attacks tries every attack, a hundred in a step.
func attacks(a asked) said {
	all, done := attack.SQL(), len(a.toolResults())
	if done >= len(all) || len(a.Tools) == 0 {
		return said{text: "I could not."}
	}
	var next []wish
	for i, sql := range all[done:min(done+100, len(all))] {
		args, _ := json.Marshal(map[string]string{"datasource": "shop", "sql": sql})
		next = append(next, wish{fmt.Sprintf("call_%d", done+i), "query_mysql", string(args)})
	}
	return said{calls: next}
}

// attackShop demands that no attack changed the database, a file, or anything that the service itself keeps.
func attackShop(t *testing.T, s *service, db *peers.MariaDB, logs string) {
	const state = "CHECKSUM TABLE shop.requests; SELECT COUNT(*) FROM information_schema.tables; SHOW CREATE TABLE shop.requests;"
	before, err := db.SQL(state)
	if err != nil {
		t.Fatal(err)
	}
	own := s.runIDs()
	_, first := s.request("GET", "/v1/runs/"+own[len(own)-1]+"/events", nil)
	v := s.chats("Diagnose the attack")
	if order := v.order(); !strings.HasSuffix(order, "content FALLBACK, done FALLBACK") || strings.Contains(v.raw, "/tmp/") {
		t.Errorf("%s", v.raw)
	}
	after, err := db.SQL(state)
	if diff := cmp.Diff(before, after); diff != "" || err != nil {
		t.Errorf("%v: the database (-before +after):\n%s", err, diff)
	}
	if now := s.runIDs(); len(now) != len(own)+1 {
		t.Errorf("%d runs before, %d after", len(own), len(now))
	}
	if _, again := s.request("GET", "/v1/runs/"+own[len(own)-1]+"/events", nil); string(again) != string(first) {
		t.Errorf("the service's own store:\n%s\n%s", first, again)
	}
	if _, err := os.Stat("/tmp/fastreact-attack"); err == nil {
		t.Error("a file was written")
	}
	if files, _ := filepath.Glob(filepath.Join(logs, "*")); len(files) != 1 {
		t.Errorf("files %v", files)
	}
}
