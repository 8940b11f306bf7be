package blackbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fastreact/fastreact/testdata/peers"
)

// database is a PostgreSQL server that lives as long as its test.
type database struct {
	t      *testing.T
	server *peers.Postgres
}

// startPostgres starts a server and creates table notes with three rows.
func startPostgres(t *testing.T) *database {
	t.Helper()
	d := &database{t, peers.NeedPostgres(t, peers.PostgresConfig{})}
	d.sql("create table notes (id int primary key, text text); insert into notes values (1, 'a'), (2, 'b'), (3, 'c')")
	return d
}

// sql runs a statement behind everybody's back and returns what it says.
func (d *database) sql(statement string) string {
	d.t.Helper()
	out, err := d.server.SQL("postgres", statement)
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

func (d *database) address() string {
	return "postgres://fastreact@" + d.server.Addr + "/postgres"
}

// pg is the server whose one tool calls itself read-only.
func (d *database) pg() peer {
	return peer{name: "pg", program: []string{npmPeer(d.t, "mcp-server-postgres"), d.address()}}
}

// lie is what the server's read-only transaction does not withstand.
const lie = "COMMIT; delete from notes; select 1"

func sql(statement string) map[string]any { return map[string]any{"sql": statement} }

// TestTheReadOnlyToolReallyDeletesWhenItIsAllowed is the control of the tests below: nothing but policy stops it.
func TestTheReadOnlyToolReallyDeletesWhenItIsAllowed(t *testing.T) {
	t.Parallel()
	d := startPostgres(t)
	s, _ := startPeers(t, "policy: {default_action: allow}\n", d.pg())
	if names := s.tools("pg"); len(names) != 1 {
		t.Errorf("tools %v", names)
	}
	s.call("pg_query", sql("select text from notes where id = 2")).demand(t, false, `"text": "b"`)
	s.call("pg_query", sql("delete from notes")).demand(t, true, "[MCP_ERROR]") // read-only, it says
	s.call("pg_query", sql(lie))
	if left := d.sql("select count(*) from notes"); left != "0" {
		t.Errorf("%s rows are left: the server no longer lies", left)
	}
}

func TestRuleStopsTheReadOnlyToolThatDeletes(t *testing.T) {
	t.Parallel()
	d := startPostgres(t)
	s, _ := startPeers(t, "policy: {default_action: allow, tool_rules: {pg_query: deny}}\n", d.pg())
	s.denied(s.call("pg_query", sql(lie)), "pg", "query")
	if left := d.sql("select count(*) from notes"); left != "3" {
		t.Errorf("%s rows are left", left)
	}
}

func TestPersonSeesWhatTheReadOnlyToolWouldRun(t *testing.T) {
	t.Parallel()
	d := startPostgres(t)
	s, _ := startPeers(t, "policy: {default_action: allow, tool_rules: {pg_query: require_approval}}\napprovals: {timeout: 60s}\n", d.pg())
	stream := s.stream(ask("pg_query "+string(mustJSON(t, sql(lie))), nil))
	all := stream.until("ask_user")
	asked := all[len(all)-1].json(t)
	if shown := asked["tool_args"].(map[string]any)["sql"]; shown != lie {
		t.Errorf("a person is shown %v", shown)
	}
	if status, raw := s.request("POST", "/v1/approvals/"+asked["approval_request_id"].(string)+"/deny", nil); status != 200 {
		t.Fatalf("deny: %d %s", status, raw)
	}
	s.resultIn(stream.rest()).demand(t, true, "[SAFETY_DENIED]")
	if calls := s.reached("pg", "query"); len(calls) != 0 {
		t.Errorf("the server received %v", calls)
	}
	if left := d.sql("select count(*) from notes"); left != "3" {
		t.Errorf("%s rows are left", left)
	}
}

// sqlGuard builds the policy plugin of testdata/oneselect once per test run.
var sqlGuard = sync.OnceValues(func() (string, error) { return buildGuard("oneselect") })

// guarding is the configuration that loads it.
func guarding(t *testing.T) string {
	t.Helper()
	plugin, err := sqlGuard()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("plugins: {cache_dir: %q, load: [{path: %q, allow_unpinned: true}]}\npolicy: {default_action: allow}\n", cacheDir(t), plugin)
}

func TestPolicyPluginLetsOneSelectPassAndStopsTheLie(t *testing.T) {
	t.Parallel()
	d := startPostgres(t)
	s, _ := startPeers(t, guarding(t), d.pg())
	s.call("pg_query", sql("select text from notes where id = 2")).demand(t, false, `"text": "b"`)
	for _, statement := range []string{lie, "commit;delete from notes", "select 1; delete from notes", "delete from notes", "with gone as (delete from notes returning 1) select 1"} {
		blocked := s.call("pg_query", sql(statement))
		blocked.demand(t, true, "[SAFETY_BLOCKED]", "one select")
	}
	if calls := s.reached("pg", "query"); len(calls) != 1 || !strings.Contains(calls[0], "where id = 2") {
		t.Errorf("the server received %v", calls)
	}
	if left := d.sql("select count(*) from notes"); left != "3" {
		t.Errorf("%s rows are left", left)
	}
}

// TestServerThatSpeaksBothProtocolsThroughTheGate runs dbhub with the handshake of the older protocol, and without it.
func TestServerThatSpeaksBothProtocolsThroughTheGate(t *testing.T) {
	t.Parallel()
	d := startPostgres(t)
	hub := peer{name: "hub", program: []string{npmPeer(t, "dbhub"), "--transport", "stdio", "--dsn", d.address() + "?sslmode=disable"}}
	for name, refuses := range map[string]string{"initialize": "", "2026-07-28": "initialize"} {
		t.Run(name, func(t *testing.T) {
			hub.env = map[string]string{"BLACKBOX_TEE_REFUSES": refuses}
			s, _ := startPeers(t, "policy: {default_action: allow, tool_rules: {search_objects: deny}}\n", hub)
			if names := s.tools("hub"); len(names) != 2 {
				t.Errorf("tools %v", names)
			}
			s.call("hub_execute_sql", sql("select text from notes where id = 2")).demand(t, false, `"text": "b"`)
			s.call("hub_execute_sql", sql("select nothing from nowhere")).demand(t, true, "nowhere")
			s.denied(s.call("hub_search_objects", map[string]any{"object_type": "table"}), "hub", "search_objects")
			raw, err := os.ReadFile(filepath.Join(s.folder, "hub.log"))
			if err != nil {
				t.Fatal(err)
			}
			if modern := strings.Contains(string(raw), `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`); modern != (refuses != "") {
				t.Errorf("calls of the newest protocol: %v\n%s", modern, raw)
			}
		})
	}
}
