package mcpbridge

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

func realStdio(name string) Server {
	return Server{Name: name, Command: os.Args[0], Env: Secrets{roleVariable: "real", "GORACE": raceExit}, Timeout: 20 * time.Second}
}

func call(t *testing.T, b *Bridge, tool, args string, identity sdk.Identity) sdk.Result {
	t.Helper()
	result, err := b.Invoke(context.Background(), tool, sdk.Call{Args: json.RawMessage(args), Identity: identity})
	if err != nil {
		t.Fatalf("%s: %v (%+v)", tool, err, err)
	}
	return result
}

func TestRealServerOverStdioAnswers(t *testing.T) {
	b := open(t, Config{Servers: []Server{realStdio("real")}})
	if got := call(t, b, "real_echo", `{"text":"hello"}`, sdk.Identity{}).Content; got != "hello" {
		t.Errorf("got %q", got)
	}
}

func TestServersFooDotBarAndFooUnderscoreBarDoNotCollide(t *testing.T) {
	b := open(t, Config{Servers: []Server{realStdio("foo.bar"), realStdio("foo_bar")}})
	servers := map[string]string{}
	for _, tool := range b.Tools(context.Background()) {
		if tool.RawName == "echo" {
			servers[tool.Server] = tool.Name
		}
	}
	if len(servers) != 2 || servers["foo.bar"] == servers["foo_bar"] || servers["foo_bar"] != "foo_bar_echo" {
		t.Errorf("got %v", servers)
	}
}

func TestRawSchemaOfARealServerSurvives(t *testing.T) {
	b := open(t, Config{Servers: []Server{realStdio("real")}})
	for _, tool := range b.Tools(context.Background()) {
		if tool.RawName == "echo" && string(tool.InputSchema) != echoSchema {
			t.Errorf("got %s", tool.InputSchema)
		}
	}
}

func TestFiveMegabytesArriveWhole(t *testing.T) {
	b := open(t, Config{Servers: []Server{realStdio("real")}})
	if got := call(t, b, "real_big", `{}`, sdk.Identity{}).Content; len(got) != bigSize {
		t.Errorf("got %d bytes", len(got))
	}
}

func TestErrorOfTheToolIsAResult(t *testing.T) {
	b := open(t, Config{Servers: []Server{realStdio("real")}})
	want := sdk.Result{Content: "the tool says no", IsError: true}
	if diff := cmp.Diff(want, call(t, b, "real_broken", `{}`, sdk.Identity{})); diff != "" {
		t.Error(diff)
	}
}

func TestIdentityIsForwardedBesideTheArgumentsAndInMetaWithTheKeyOfTheCall(t *testing.T) {
	b, _, p := meet(t, func(s *Server) { s.ForwardIdentity = true }, tool("work"))
	identity := sdk.Identity{UserKey: "pska:user_primary", TenantKey: "pska"}
	done := async(func() error {
		_, err := b.Invoke(context.Background(), "fake_work", sdk.Call{Args: json.RawMessage(`{"n":12345678901234567890,"t":"<&>"}`), Identity: identity, IdempotencyKey: "t/r:4"})
		return err
	})
	sent := p.expect(t, "tools/call")
	want := `{"name":"work","arguments":{"n":12345678901234567890,"t":"<&>"},"user_key":"pska:user_primary","tenant_key":"pska","_meta":{"fastreact/idempotency_key":"t/r:4","tenant_key":"pska","user_key":"pska:user_primary"}}`
	if diff := cmp.Diff(want, string(sent.Params)); diff != "" {
		t.Error(diff)
	}
	p.replyText(t, sent, "")
	within(t, done)
}

func TestIdentityStaysHereUnlessForwarded(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	done := async(func() error {
		_, err := b.Invoke(context.Background(), "fake_work", sdk.Call{Identity: sdk.Identity{UserKey: "u", TenantKey: "t"}})
		return err
	})
	sent := p.expect(t, "tools/call")
	if diff := cmp.Diff(`{"name":"work","arguments":{}}`, string(sent.Params)); diff != "" {
		t.Error(diff)
	}
	p.replyText(t, sent, "")
	within(t, done)
}

func TestServiceTokenReachesNoChild(t *testing.T) {
	t.Setenv("FASTREACT_SERVICE_TOKEN", "canary")
	t.Setenv("OTHER_TOKEN", "canary")
	b := open(t, Config{Servers: []Server{realStdio("real")}})
	if got := call(t, b, "real_environment", `{}`, sdk.Identity{}).Content; strings.Contains(got, "canary") || !strings.Contains(got, "PATH=") {
		t.Errorf("child saw %s", got)
	}
}

func TestErrorOutputIsLoggedWithoutSecrets(t *testing.T) {
	log := logTap{make(chan string, 100)}
	spec := realStdio("noisy")
	spec.Command, spec.Args = "sh", []string{"-c", `echo "key is $API_KEY" >&2; exec "` + os.Args[0] + `"`}
	spec.Env["API_KEY"] = "canary-value"
	b := open(t, Config{Servers: []Server{spec}, Log: slog.New(log)})
	b.Tools(context.Background())
	if got := log.await(t, "mcp server wrote to its error output"); !strings.HasSuffix(got, "line=key is [redacted]") {
		t.Errorf("logged %q", got)
	}
}

func TestStatusOfAWorkingServer(t *testing.T) {
	b, _, _ := meet(t, nil, tool("work"), `{"name":"odd"}`)
	want := []sdk.SourceStatus{{Name: "fake", Alive: true, Transport: "stdio", Isolation: "shared", Loaded: true, ToolCount: 1, Quarantined: []string{"odd"}}}
	if diff := cmp.Diff(want, b.Status()); diff != "" {
		t.Error(diff)
	}
}

func TestToolsInPagesAreAllListed(t *testing.T) {
	r := newRelay(t)
	b := open(t, Config{Servers: []Server{r.server("fake")}})
	listed := async(func() []sdk.NativeTool { return b.Tools(context.Background()) })
	p := r.accept(t)
	p.greet(t)
	p.reply(t, p.expect(t, "tools/list"), `{"tools":[`+tool("one")+`],"nextCursor":"again"}`)
	p.reply(t, p.expect(t, "tools/list"), `{"tools":[`+tool("two")+`],"nextCursor":"again"}`)
	if diff := cmp.Diff([]string{"fake_one", "fake_two"}, names(within(t, listed))); diff != "" {
		t.Error(diff)
	}
}

func TestEveryUserHasAClientOfTheirOwn(t *testing.T) {
	spec := realStdio("real")
	spec.Isolation = isolationPerUser
	b := open(t, Config{Servers: []Server{spec}})
	alice := sdk.Identity{TenantKey: "t", UserKey: "alice"}
	first, again := call(t, b, "real_pid", `{}`, alice).Content, call(t, b, "real_pid", `{}`, alice).Content
	bob := call(t, b, "real_pid", `{}`, sdk.Identity{TenantKey: "t", UserKey: "bob"}).Content
	otherTenant := call(t, b, "real_pid", `{}`, sdk.Identity{TenantKey: "u", UserKey: "alice"}).Content
	if first != again || first == bob || first == otherTenant || bob == otherTenant {
		t.Errorf("alice %s and %s, bob %s, alice of another tenant %s", first, again, bob, otherTenant)
	}
}

func TestLongestUnusedClientMakesRoomForANewUser(t *testing.T) {
	spec := realStdio("real")
	spec.Isolation = isolationPerUser
	b := open(t, Config{Servers: []Server{spec}, MaxClients: 1})
	alice, bob := sdk.Identity{UserKey: "alice"}, sdk.Identity{UserKey: "bob"}
	first := call(t, b, "real_pid", `{}`, alice).Content
	call(t, b, "real_pid", `{}`, bob)
	if again := call(t, b, "real_pid", `{}`, alice).Content; again == first {
		t.Errorf("two clients were kept")
	}
}

func TestBusyClientsAreNotClosedForANewUser(t *testing.T) {
	spec := realStdio("real")
	spec.Isolation = isolationPerUser
	b := open(t, Config{Servers: []Server{spec}, MaxClients: 1})
	b.Tools(context.Background())
	_, giveBack, err := b.servers[0].borrow(owner{user: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	defer giveBack()
	_, err = b.Invoke(context.Background(), "real_pid", sdk.Call{Identity: sdk.Identity{UserKey: "bob"}})
	if err == nil || err.Error() != "MCP server real has too many clients at the moment." {
		t.Errorf("got %v", err)
	}
}

func TestIdleClientsAreClosed(t *testing.T) {
	r := newRelay(t)
	spec := r.server("fake")
	spec.Isolation = isolationPerUser
	b := open(t, Config{Servers: []Server{spec}, IdleTimeout: 50 * time.Millisecond})
	listed := async(func() []sdk.NativeTool { return b.Tools(context.Background()) })
	r.accept(t).welcome(t, tool("work"))
	within(t, listed)
	done := async(func() error {
		_, err := b.Invoke(context.Background(), "fake_work", sdk.Call{Identity: sdk.Identity{UserKey: "alice"}})
		return err
	})
	p := r.accept(t)
	p.greet(t)
	p.replyText(t, p.expect(t, "tools/call"), "")
	within(t, done)
	_ = p.conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := p.lines.ReadByte(); err == nil || os.IsTimeout(err) {
		t.Errorf("the client lives on: %v", err)
	}
}
