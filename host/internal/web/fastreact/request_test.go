package fastreact

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
	"github.com/fastreact/fastreact/sdk"
)

// contract returns one of the seed's JSON examples, verbatim.
func contract(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../../../testdata/contract/fastreact", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func parse(t testing.TB, body string, said web.Behalf) (asked, error) {
	t.Helper()
	decoded, refusal := web.DecodeObject([]byte(body))
	if refusal != nil {
		t.Fatal(refusal)
	}
	f := &face{Config{ParseToolPolicy: parseAny}}
	return f.parseRequest(decoded, said)
}

func TestTheContractsChatRequestIsRead(t *testing.T) {
	body := strings.Replace(contract(t, "chat_request"), "qa|report|review|memory|job", "qa", 1)
	got, err := parse(t, body, web.Behalf{Provider: "service_token"})
	if err != nil {
		t.Fatal(err)
	}
	got.request.Metadata = nil
	want := asked{stream: true, request: run.Request{
		ID: "optional-report-run-id", SessionID: "optional-session-id",
		Messages: []run.Message{
			{Role: run.System, Content: "Use PSKA MCP tools and cite evidence."}, {Role: run.User, Content: "Question"},
		},
		Identity: sdk.Identity{
			UserKey: "pska:user_primary", TenantKey: "pska", UserID: "user_primary", Caller: "pska", Purpose: "qa",
			AuthProvider: "service_token",
		},
		Skills:     &[]string{"optional-skill-name"},
		ToolPolicy: run.ToolPolicy{Mode: run.Allowlist},
	}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(asked{})); diff != "" {
		t.Error(diff)
	}
}

func TestTheContractsRunRequestIsRead(t *testing.T) {
	got, err := parse(t, contract(t, "run_request"), web.Behalf{})
	if err != nil {
		t.Fatal(err)
	}
	temperature, topP, maxTokens := 0.3, 0.9, 2048
	want := run.ModelOptions{Temperature: &temperature, TopP: &topP, MaxTokens: &maxTokens}
	if diff := cmp.Diff(want, got.request.Options); diff != "" {
		t.Error(diff)
	}
	if got.request.Model != "deepseek-v4-flash" || got.stream {
		t.Errorf("model %q, stream %v", got.request.Model, got.stream)
	}
}

func TestWrongFieldsAreNamed(t *testing.T) {
	user := `"messages":[{"role":"user","content":"q"}]`
	for _, c := range []struct {
		body, kind string
		loc        []any
	}{
		{`{}`, "missing", []any{"body", "messages"}},
		{`{"messages":"q"}`, "list_type", []any{"body", "messages"}},
		{`{"messages":["q"]}`, "dict_type", []any{"body", "messages", 0}},
		{`{"messages":[{"content":"q"}]}`, "missing", []any{"body", "messages", 0, "role"}},
		{`{"messages":[{"role":"bot","content":"q"}]}`, "literal_error", []any{"body", "messages", 0, "role"}},
		{`{"messages":[{"role":1,"content":"q"}]}`, "string_type", []any{"body", "messages", 0, "role"}},
		{`{"messages":[{"role":"user","content":7}]}`, "string_type", []any{"body", "messages", 0, "content"}},
		{
			`{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, "literal_error",
			[]any{"body", "messages", 0, "content", 0, "type"},
		},
		{
			`{"messages":[{"role":"user","content":[{"type":"text","text":1}]}]}`, "string_type",
			[]any{"body", "messages", 0, "content", 0, "text"},
		},
		{`{` + user + `,"temperature":2.1}`, "less_than_equal", []any{"body", "temperature"}},
		{`{` + user + `,"temperature":-0.1}`, "greater_than_equal", []any{"body", "temperature"}},
		{`{` + user + `,"temperature":"0.3"}`, "float_type", []any{"body", "temperature"}},
		{`{` + user + `,"temperature":1e999}`, "finite_number", []any{"body", "temperature"}},
		{`{` + user + `,"temperature":true}`, "float_type", []any{"body", "temperature"}},
		{`{` + user + `,"top_p":1.1}`, "less_than_equal", []any{"body", "top_p"}},
		{`{` + user + `,"max_tokens":0}`, "greater_than", []any{"body", "max_tokens"}},
		{`{` + user + `,"max_tokens":1.5}`, "int_type", []any{"body", "max_tokens"}},
		{`{` + user + `,"max_tokens":99999999999}`, "less_than_equal", []any{"body", "max_tokens"}},
		{`{` + user + `,"stream":"yes"}`, "bool_type", []any{"body", "stream"}},
		{`{` + user + `,"model":1}`, "string_type", []any{"body", "model"}},
		{`{` + user + `,"skills":"a"}`, "list_type", []any{"body", "skills"}},
		{`{` + user + `,"skills":[1]}`, "string_type", []any{"body", "skills", 0}},
		{`{` + user + `,"metadata":[]}`, "dict_type", []any{"body", "metadata"}},
		{`{` + user + `,"metadata":{"run_id":"a b"}}`, "string_pattern_mismatch", []any{"body", "metadata", "run_id"}},
		{`{` + user + `,"metadata":{"run_id":""}}`, "string_pattern_mismatch", []any{"body", "metadata", "run_id"}},
		{`{` + user + `,"metadata":{"run_id":7}}`, "string_type", []any{"body", "metadata", "run_id"}},
		{`{` + user + `,"metadata":{"caller":7}}`, "string_type", []any{"body", "metadata", "caller"}},
		{`{` + user + `,"session_id":"a\nb"}`, "string_pattern_mismatch", []any{"body", "session_id"}},
		{`{` + user + `,"session_id":{}}`, "string_type", []any{"body", "session_id"}},
		{`{` + user + `,"user_key":"a\u0007b"}`, "string_pattern_mismatch", []any{"body", "user_key"}},
		{`{` + user + `,"user_key":"` + strings.Repeat("x", 257) + `"}`, "string_too_long", []any{"body", "user_key"}},
		{`{` + user + `,"on_disconnect":"pause"}`, "literal_error", []any{"body", "on_disconnect"}},
		{`{` + user + `,"tool_policy":{"mode":"all"}}`, "literal_error", []any{"body", "tool_policy", "mode"}},
	} {
		_, err := parse(t, c.body, web.Behalf{})
		refusal, ok := err.(*web.Refusal)
		if !ok || refusal.Status != 422 || len(refusal.Fields) != 1 {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		got := []any{refusal.Fields[0].Type, refusal.Fields[0].Loc}
		if diff := cmp.Diff([]any{c.kind, c.loc}, got); diff != "" {
			t.Errorf("%s: %s", c.body, diff)
		}
	}
}

func TestAllFaultsAreToldAtOnce(t *testing.T) {
	_, err := parse(t, `{"messages":1,"temperature":9,"stream":3}`, web.Behalf{})
	if refusal, ok := err.(*web.Refusal); !ok || len(refusal.Fields) != 3 {
		t.Errorf("%v", err)
	}
}

func TestUnknownFieldsAndNullsAreIgnored(t *testing.T) {
	body := `{"messages":[{"role":"user","content":"q","name":"x"}],"n":1,"stream":null,"temperature":null,` +
		`"session_id":"","metadata":null,"tool_policy":null,"skills":null,"user_key":null,"model":""}`
	got, err := parse(t, body, web.Behalf{})
	if err != nil {
		t.Fatal(err)
	}
	want := asked{request: run.Request{Messages: []run.Message{{Role: run.User, Content: "q"}}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(asked{})); diff != "" {
		t.Error(diff)
	}
}

func TestAQuestionWithoutTextIsRefused(t *testing.T) {
	for _, messages := range []string{
		`[]`, `[{"role":"system","content":"q"}]`, `[{"role":"user","content":" \n"}]`, `[{"role":"user","content":null}]`,
		`[{"role":"user","content":[]}]`, `[{"role":"user","content":[{"type":"text","text":""}]}]`,
	} {
		_, err := parse(t, `{"messages":`+messages+`}`, web.Behalf{})
		if refusal, ok := err.(*web.Refusal); !ok || refusal.Status != 400 || refusal.Code != "no_user_message" {
			t.Errorf("%s: %v", messages, err)
		}
	}
}

func TestConversationsOfOpenAIClientsAreRead(t *testing.T) {
	got, err := parse(t, `{"messages":[
		{"role":"developer","content":"be brief"},
		{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
		{"role":"assistant","content":null,"reasoning_content":"hm",
		 "tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"x\": 1}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"r"}]}`, web.Behalf{})
	if err != nil {
		t.Fatal(err)
	}
	want := []run.Message{
		{Role: run.System, Content: "be brief"},
		{Role: run.User, Content: "ab"},
		{Role: run.Assistant, Reasoning: "hm", ToolCalls: []run.ToolCall{{ID: "c1", Name: "f", Arguments: `{"x": 1}`}}},
		{Role: run.ToolRole, Content: "r", ToolCallID: "c1"},
	}
	if diff := cmp.Diff(want, got.request.Messages); diff != "" {
		t.Error(diff)
	}
}

func TestIdentityComesFromBodyOrHeaderButNotFromBoth(t *testing.T) {
	for _, c := range []struct {
		name, body string
		said       web.Behalf
		want       sdk.Identity
		refused    bool
	}{
		{name: "nobody"},
		{
			name: "body", body: `,"user_key":"pska:ann"`,
			want: sdk.Identity{UserKey: "pska:ann", TenantKey: "pska", UserID: "ann"},
		},
		{
			name: "header", said: web.Behalf{User: "pska:ann", Tenant: "acme"},
			want: sdk.Identity{UserKey: "pska:ann", TenantKey: "acme", UserID: "ann"},
		},
		{
			name: "both alike", body: `,"user_key":"ann"`, said: web.Behalf{User: "ann"},
			want: sdk.Identity{UserKey: "ann"},
		},
		{name: "both unlike", body: `,"user_key":"ann"`, said: web.Behalf{User: "bob"}, refused: true},
		{name: "tenants unlike", body: `,"metadata":{"tenant_key":"a"}`, said: web.Behalf{Tenant: "b"}, refused: true},
		{name: "broken header", said: web.Behalf{User: "a\x01"}, refused: true},
		{
			name: "metadata", body: `,"user_key":"pska:ann","metadata":{"tenant_key":"acme","pska_user_id":"u7"}`,
			want: sdk.Identity{UserKey: "pska:ann", TenantKey: "acme", UserID: "u7"},
		},
	} {
		got, err := parse(t, `{"messages":[{"role":"user","content":"q"}]`+c.body+`}`, c.said)
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got.request.Identity); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestMetadataIsKeptWholeWithItsNumbers(t *testing.T) {
	got, err := parse(t, `{"messages":[{"role":"user","content":"q"}],"metadata":{"b":1.50,"a":{"c":[12345678901234567890]}}}`,
		web.Behalf{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"a":{"c":[12345678901234567890]},"b":1.50}`, string(got.request.Metadata)); diff != "" {
		t.Error(diff)
	}
}

func TestIdsAreGeneratedWhereTheClientChoseNone(t *testing.T) {
	b := newBook(nil)
	server := open(t, b)
	_, body := call(t, server, "POST", "/v1/runs", `{"messages":[{"role":"user","content":"q"}]}`)
	answered := object(t, body)
	id, _ := answered["run_id"].(string)
	session, _ := answered["session_id"].(string)
	if !strings.HasPrefix(id, "run-") || !strings.HasPrefix(session, "session-") {
		t.Error(body)
	}
}

func FuzzRequestsAreReadOrRefused(f *testing.F) {
	for _, name := range []string{"chat_request", "run_request", "event", "policy_config", "mcp_server"} {
		f.Add([]byte(contract(f, name)))
	}
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},7]}],"metadata":{"run_id":null}}`))
	read := &face{Config{ParseToolPolicy: parseAny}}
	f.Fuzz(func(t *testing.T, raw []byte) {
		decoded, refusal := web.DecodeObject(raw)
		if refusal != nil {
			return
		}
		got, err := read.parseRequest(decoded, web.Behalf{})
		if err != nil {
			if _, ok := err.(*web.Refusal); !ok {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		if strings.TrimSpace(got.request.Query()) == "" && len(got.request.Messages) < 2 {
			t.Fatalf("%q was taken without a question", raw)
		}
		if _, err := json.Marshal(got.request); err != nil {
			t.Fatal(err)
		}
	})
}
