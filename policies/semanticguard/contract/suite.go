// Package contract holds what every build of the semantic-guard plugin must do: which drafts may leave, and which not.
package contract

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/plugintest"
)

// Suite returns the contract of semantic-guard.
func Suite() plugintest.Suite {
	var all []plugintest.Case
	for _, text := range harmless() {
		all = append(all, plugintest.Case{Name: "may leave: " + text, Run: review{answer(text), `[]`, sdk.Release}.check})
	}
	for _, text := range forbidden() {
		all = append(all, plugintest.Case{Name: "must not leave: " + text, Run: review{answer(text), `[]`, sdk.Repair}.check})
		inside := reportWith("The checkout is slow.", "The checkout is slow. "+text, "", "Wait.")
		all = append(all, plugintest.Case{Name: "must not leave as a finding: " + text, Run: review{inside, "", sdk.Repair}.check})
	}
	for name, r := range reports() {
		all = append(all, plugintest.Case{Name: name, Run: r.check})
	}
	return plugintest.Suite{Name: "semantic-guard", Cases: all}
}

// review is a draft and the verdict about it.
type review struct {
	draft    string
	evidence string // empty = evidence()
	want     sdk.GuardVerdict
}

func (f review) check(t *testing.T, plugin *plugintest.Plugin) {
	store := f.evidence
	if store == "" {
		store = evidence("Metrics up: 1 series")
	}
	request := sdk.ReviewRequest{Draft: json.RawMessage(f.draft), Evidence: json.RawMessage(store), Question: "Why?"}
	got := plugin.Review(t, request)
	if got.Verdict != f.want || (len(got.Reasons) == 0) != (f.want == sdk.Release) {
		t.Errorf("verdict = %s because of %q, want %s", got.Verdict, got.Reasons, f.want)
	}
	if again := plugin.Review(t, request); !reflect.DeepEqual(got, again) {
		t.Errorf("the second answer is %+v, the first was %+v", again, got)
	}
}

func evidence(title string) string {
	return fmt.Sprintf(`[{"evidence_id":"m-1","source":"metrics","title":%s,"observed_at":"2026-11-30T10:15:00Z","facts":[{"name":"up","value":"0","unit":""}],"excerpt":"InnoDB db_password=hunter2-and-more CheckoutService"}]`, quoted(title))
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func answer(text string) string { return `{"text":` + quoted(text) + `}` }

func reportWith(summary, statement, cause, action string) string {
	return fmt.Sprintf(`{"summary":%s,"findings":[{"statement":%s,"severity":"info","evidence_ids":["m-1"]}],"likely_cause":%s,"recommended_actions":[%s]}`,
		quoted(summary), quoted(statement), quoted(cause), quoted(action))
}

func harmless() []string {
	return []string{
		"Hello! How can I help?", "You're welcome.", "Select a replica from the pool and restart it.", "Update the config and set a limit.",
		"Delete from the list what you no longer need.", "Create an index on the orders table.", "The queries metrics show are slow.",
		"Requests to /api/orders and https://shop.example/var/x fail.", "The disk /var is full.", "GET /users/42/orders and /data/export and /media/upload answer 500.", "See app.log for more.", "Read/write ratio and TCP/IP, 24/7, and/or.",
		"The token expired.", "Rotate the password.", "A secret was rotated: ask the team.", "Use three to five replicas.", "http_requests_total grows.",
		"The instructions of the vendor help.", "checkout-7d9f8c6b5-x2x9z restarts.", "Commit 4f1c9a2e was deployed.", "trace 3fa85f64-5717-4562-b3fc-2c963f66afa6",
		"max_tokens: 1500", "Es ist alles in Ordnung.", "请求失败了。", "👩‍👩‍👧 family", "Line one.\nLine two.\tTab.", "The password is set to ******.",
		"fastreact_tool_calls_total and http_requests_total{handler=\"/api/chat\"} grow.", "Drop the idea. Show the team.", "He said: explain it.", "version v1.24.3",
	}
}

func forbidden() []string {
	return []string{
		"I called query_metrics.", "QUERY_LOGS says so.", "query\\_mysql", "query-mysql failed", "query_**metrics**", "`query`\\_`logs`", "queryMetrics", "query_\u200bmysql", "ｑｕｅｒｙ＿ｌｏｇｓ", "read_file was used", "tool_call_id 7", "[SAFETY_BLOCKED]",
		"My system prompt says so.", "I was instructed to hide it.", "my instructions", "<|im_start|>", "<think>hm</think>",
		"SELECT * FROM orders", "select id, name from users", "I ran SELECT name FROM users WHERE id = 1.", "select sleep(5)", "SELECT 1; DROP TABLE users", "insert into t values (1)",
		"update users set admin = 1", "delete from users", "drop table users", "show processlist", "explain select 1", "information_schema.tables", "x INTO OUTFILE 'y'", "union select null",
		"see /etc/passwd", "/var/log/app/app.log has it", "logs/app.log", "C:\\Windows\\x", "\\\\host\\share", "~/x", "../x", "file:///etc", "in main.go:12", "/home/u", "path:/tmp/x",
		"Traceback (most recent call last)", "`/srv/data/x`", "(/opt/app/x)",
		"password=hunter2", "Password: hunter2", "\"api_key\": \"abcdef\"", "token = abc123", "Authorization: Bearer x", "Bearer abcdef123456", "AKIAIOSFODNN7EXAMPLE", "sk-abcdefghijklmnop1234",
		"ghp_abcdef", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.x", "-----BEGIN RSA PRIVATE KEY-----", "mysql://root:pw@db/x", "root:pw@tcp(db:3306)/x", "https://u:p@host/", "Zm9vYmFyQmF6UXV4MTIzNDU2Nzg5MA",
		"d41d8cd98f00b204e9800998ecf8427e",
		"run_id=abc-1", "session_id: 42ab", "01J9ZQ4T8X5W7V3N2M1K0H6G5F", "session-01j9zq4t8x5w7v3n2m1k0h6g5f",
		"a\u202eb", "a\u2066b", "a\x1b[31mb", "a\u0000b",
	}
}

func reports() map[string]review {
	good := reportWith("The checkout is slow.", "The checkout is slow.", "", "Wait.")
	return map[string]review{
		"a whole report may leave":                          {good, "", sdk.Release},
		"what a finding states the summary may say":         {reportWith(`It takes 2.4 s: "refused", says db-7.`, `db-7 took 2.4 s and said "refused".`, "", "Wait."), "", sdk.Release},
		"names of the evidence may stand in the summary":    {reportWith("Something in InnoDB and CheckoutService is slow.", "It is slow.", "", "Wait."), "", sdk.Release},
		"the first word of a sentence is no name":           {reportWith("Checkout is slow. Orders wait: Nothing else.", "It is slow.", "", "Wait."), "", sdk.Release},
		"a language with many capitals is left alone":       {reportWith("Die Kasse ist wegen der Datenbank und der Verbindungen im Rechenzentrum langsam.", "Es ist langsam.", "", "Warten."), "", sdk.Release},
		"German writes every noun with a capital":           {reportWith("Die Kasse ist langsam.", "Die Anfragen dauern lange.", "", "Warten."), "", sdk.Release},
		"one German word makes no German":                   {reportWith("The cause is the Redis server der Team.", "It is slow.", "", "Wait."), "", sdk.Repair},
		"a number that no finding states":                   {reportWith("It takes 2.4 s.", "It is slow.", "", "Wait."), "", sdk.Repair},
		"a quotation that no finding states":                {reportWith(`It says "refused".`, "It is slow.", "", "Wait."), "", sdk.Repair},
		"a name that no finding speaks of":                  {reportWith("The cause is Redis.", "It is slow.", "", "Wait."), "", sdk.Repair},
		"an identifier that no finding speaks of":           {reportWith("The cause is orders_total.", "It is slow.", "", "Wait."), "", sdk.Repair},
		"a product that no finding speaks of":               {reportWith("It is slow. RabbitMQ is down.", "It is slow.", "", "Wait."), "", sdk.Repair},
		"a missing key":                                     {strings.Replace(good, `"likely_cause":"",`, ``, 1), "", sdk.Repair},
		"a severity that is none":                           {strings.Replace(good, `"info"`, `"bad"`, 1), "", sdk.Repair},
		"SQL in the summary":                                {reportWith("SELECT * FROM x", "It is slow.", "", "Wait."), "", sdk.Repair},
		"a path as the cause":                               {reportWith("It is slow.", "It is slow.", "/etc/passwd", "Wait."), "", sdk.Repair},
		"SQL as an action":                                  {reportWith("It is slow.", "It is slow.", "", "ALTER TABLE orders ADD INDEX (id)"), "", sdk.Repair},
		"SQL in a cited title":                              {good, evidence("SELECT * FROM orders"), sdk.Repair},
		"a path in a cited title":                           {good, evidence("/var/log/app.log"), sdk.Repair},
		"a secret of the evidence":                          {reportWith("It is slow.", "The value hunter2-and-more is there.", "", "Wait."), "", sdk.Repair},
		"evidence that cannot be read":                      {good, `[7]`, sdk.Fallback},
		"a draft that is neither a text nor a report":       {`[]`, "", sdk.Repair},
		"a title that nobody cites is not what leaves here": {good, strings.TrimSuffix(evidence("up"), "]") + `,{"evidence_id":"m-2","source":"metrics","title":"SELECT * FROM x","observed_at":"2026-11-30T10:15:00Z"}]`, sdk.Release},
	}
}
