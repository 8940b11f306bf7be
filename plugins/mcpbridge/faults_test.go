package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

func TestExitDuringCallFailsWithinASecond(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	call := invoke(context.Background(), b, "fake_work")
	p.expect(t, "tools/call")
	began := time.Now()
	p.hangUp()
	failure := failureOf(t, within(t, call))
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %s", took)
	}
	if failure.Sentence != "MCP server fake ended before it answered." || !failure.MayHaveRun || !errors.Is(failure, errExited) {
		t.Errorf("got %+v", failure)
	}
}

func TestCallThatWasInFlightIsNotSentAgain(t *testing.T) {
	b, r, p := meet(t, nil, tool("work"))
	call := invoke(context.Background(), b, "fake_work")
	p.expect(t, "tools/call")
	p.hangUp()
	within(t, call)
	next := r.accept(t)
	next.welcome(t, tool("work"))
	second := invoke(context.Background(), b, "fake_work")
	sent := next.expect(t, "tools/call")
	next.replyText(t, sent, "second")
	if got := within(t, second).result.Content; got != "second" {
		t.Errorf("first call of the new child was answered with %q", got)
	}
}

func TestServerThatEndedIsRestartedWithoutBeingAsked(t *testing.T) {
	_, r, p := meet(t, nil, tool("work"))
	p.hangUp()
	r.accept(t).welcome(t, tool("work"))
}

func TestCrashWhileIdleDoesNotFailTheNextCall(t *testing.T) {
	b, r, p := meet(t, nil, tool("work"))
	p.hangUp()
	next := r.accept(t)
	call := invoke(context.Background(), b, "fake_work")
	next.welcome(t, tool("work"))
	next.replyText(t, next.expect(t, "tools/call"), "fine")
	if got := within(t, call); got.err != nil || got.result.Content != "fine" {
		t.Errorf("got %+v", got)
	}
}

func TestHangingCallEndsAtItsTimeoutAndIsCancelledAtTheServer(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	impatient(b, 500*time.Millisecond)
	call := invoke(context.Background(), b, "fake_work")
	sent := p.expect(t, "tools/call")
	failure := failureOf(t, within(t, call))
	if failure.Sentence != "MCP server fake did not answer within 500ms." || !failure.MayHaveRun {
		t.Errorf("got %+v", failure)
	}
	notice := p.expect(t, "notifications/cancelled")
	if !strings.Contains(string(notice.Params), `"requestId":`+string(sent.ID)) {
		t.Errorf("cancelled %s, want request %s", notice.Params, sent.ID)
	}
}

func TestServerThatNoLongerAnswersPingsIsReplaced(t *testing.T) {
	b, r, p := meet(t, nil, tool("work"))
	impatient(b, 300*time.Millisecond)
	call := invoke(context.Background(), b, "fake_work")
	p.expect(t, "tools/call")
	within(t, call)
	p.expect(t, "notifications/cancelled")
	p.expect(t, "ping")
	r.accept(t)
}

func TestSlowServerThatAnswersPingsIsKept(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	impatient(b, 300*time.Millisecond)
	within(t, invokeAndIgnore(t, b, p))
	p.expect(t, "notifications/cancelled")
	p.reply(t, p.expect(t, "ping"), `{}`)
	call := invoke(context.Background(), b, "fake_work")
	p.replyText(t, p.expect(t, "tools/call"), "fine")
	if got := within(t, call); got.result.Content != "fine" {
		t.Errorf("got %+v", got)
	}
}

func invokeAndIgnore(t *testing.T, b *Bridge, p *peer) <-chan outcome {
	t.Helper()
	call := invoke(context.Background(), b, "fake_work")
	p.expect(t, "tools/call")
	return call
}

func TestCancelledCallReturnsAtOnceAndIsCancelledAtTheServer(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	ctx, cancel := context.WithCancel(context.Background())
	call := invoke(ctx, b, "fake_work")
	p.expect(t, "tools/call")
	cancel()
	failure := failureOf(t, within(t, call))
	if !errors.Is(failure, context.Canceled) || failure.Sentence != "MCP server fake was not waited for: the call was cancelled." {
		t.Errorf("got %+v", failure)
	}
	p.expect(t, "notifications/cancelled")
}

func TestLateReplyIsIgnored(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	ctx, cancel := context.WithCancel(context.Background())
	first := invoke(ctx, b, "fake_work")
	late := p.expect(t, "tools/call")
	cancel()
	within(t, first)
	p.expect(t, "notifications/cancelled")
	second := invoke(context.Background(), b, "fake_work")
	sent := p.expect(t, "tools/call")
	p.replyText(t, late, "late")
	p.replyText(t, sent, "right")
	p.replyText(t, sent, "twice")
	if got := within(t, second).result.Content; got != "right" {
		t.Errorf("got %q", got)
	}
}

func TestAnswersOutOfOrderReachTheirCallers(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	first := invoke(context.Background(), b, "fake_work")
	one := p.expect(t, "tools/call")
	second := invoke(context.Background(), b, "fake_work")
	two := p.expect(t, "tools/call")
	p.replyText(t, two, "two")
	p.replyText(t, one, "one")
	if a, b := within(t, first).result.Content, within(t, second).result.Content; a != "one" || b != "two" {
		t.Errorf("got %q and %q", a, b)
	}
}

func TestGarbageOnOutputIsSkipped(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	call := invoke(context.Background(), b, "fake_work")
	sent := p.expect(t, "tools/call")
	p.write(t, "Server listening on stdio!\n\n{\"half\":\n[1,2]\n\"text\"\nnull")
	p.replyText(t, sent, "fine")
	if got := within(t, call); got.result.Content != "fine" {
		t.Errorf("got %+v", got)
	}
}

func TestGiantLineFailsOnlyItsOwnCall(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	first := invoke(context.Background(), b, "fake_work")
	giant := p.expect(t, "tools/call")
	second := invoke(context.Background(), b, "fake_work")
	small := p.expect(t, "tools/call")
	p.replyText(t, giant, strings.Repeat("x", 2<<20))
	p.replyText(t, small, "fine")
	if got := failureOf(t, within(t, first)).Sentence; got != "MCP server fake sent more than is accepted." {
		t.Errorf("got %q", got)
	}
	if got := within(t, second); got.result.Content != "fine" {
		t.Errorf("got %+v", got)
	}
}

func TestServerThatIgnoresDiscoverIsNotAsked(t *testing.T) {
	_, _, p := meet(t, nil, tool("work")) // meet demands initialize as the first message
	_ = p
}

func TestNoRootsAreDeclared(t *testing.T) {
	r := newRelay(t)
	b := open(t, Config{Servers: []Server{r.server("fake")}})
	listed := async(func() []sdk.NativeTool { return b.Tools(context.Background()) })
	p := r.accept(t)
	first := p.expect(t, "initialize")
	if !strings.Contains(string(first.Params), `"capabilities":{}`) {
		t.Errorf("declared %s", first.Params)
	}
	p.hangUp()
	within(t, listed)
}

func TestPingOfTheServerIsAnsweredAndOtherRequestsAreRefused(t *testing.T) {
	_, _, p := meet(t, nil, tool("work"))
	p.write(t, `{"jsonrpc":"2.0","id":"a","method":"ping"}`)
	if got := p.next(t); string(got.ID) != `"a"` {
		t.Errorf("got %+v", got)
	}
	p.write(t, `{"jsonrpc":"2.0","id":"b","method":"roots/list"}`)
	_ = p.conn.SetReadDeadline(time.Now().Add(patience))
	line, err := p.lines.ReadString('\n')
	if err != nil || !strings.Contains(line, `-32601`) {
		t.Errorf("got %q, %v", line, err)
	}
}

func TestChangedToolListIsReadAgain(t *testing.T) {
	log := logTap{make(chan string, 100)}
	r := newRelay(t)
	b := open(t, Config{Servers: []Server{r.server("fake")}, Log: slog.New(log)})
	listed := async(func() []sdk.NativeTool { return b.Tools(context.Background()) })
	p := r.accept(t)
	p.welcome(t, tool("old"))
	within(t, listed)
	log.await(t, "mcp server loaded")
	p.write(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	p.list(t, tool("new"))
	log.await(t, "mcp server loaded")
	if diff := cmp.Diff([]string{"fake_new"}, names(b.Tools(context.Background()))); diff != "" {
		t.Error(diff)
	}
}

func TestServerThatReadsNothingDoesNotHoldACallBeyondItsDeadline(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	impatient(b, 300*time.Millisecond)
	_ = p // the relay's buffers fill, then the pipe's, then the bridge's own queue
	huge := []byte(`{"x":"` + strings.Repeat("x", 8<<20) + `"}`)
	for range 3 {
		done := async(func() error {
			_, err := b.Invoke(context.Background(), "fake_work", sdk.Call{Args: huge})
			return err
		})
		if err := within(t, done); err == nil {
			t.Fatal("a call that nobody read succeeded")
		}
	}
}

func TestUnstartableServerHidesNoOther(t *testing.T) {
	r := newRelay(t)
	b := open(t, Config{Servers: []Server{{Name: "absent", Command: "/does/not/exist"}, r.server("fake")}})
	listed := async(func() []sdk.NativeTool { return b.Tools(context.Background()) })
	r.accept(t).welcome(t, tool("work"))
	if diff := cmp.Diff([]string{"fake_work"}, names(within(t, listed))); diff != "" {
		t.Error(diff)
	}
	want := sdk.SourceStatus{Name: "absent", Transport: "stdio", Isolation: "shared", LastError: "MCP server absent could not be started.", Quarantined: []string{}}
	if diff := cmp.Diff(want, b.Status()[0]); diff != "" {
		t.Error(diff)
	}
}

func TestSilentServerIsNotWaitedForLongerThanItsTimeout(t *testing.T) {
	r := newRelay(t)
	spec := r.server("fake")
	spec.Timeout = 300 * time.Millisecond
	b := open(t, Config{Servers: []Server{spec}})
	if got := b.Tools(context.Background()); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	if got := b.Status()[0].LastError; got != "MCP server fake did not answer within 300ms." {
		t.Errorf("got %q", got)
	}
}

func TestClosedBridgeRefusesCalls(t *testing.T) {
	b, _, _ := meet(t, nil, tool("work"))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	failure := failureOf(t, within(t, invoke(context.Background(), b, "fake_work")))
	if failure.Sentence != "MCP server fake is being shut down." || failure.MayHaveRun {
		t.Errorf("got %+v", failure)
	}
}

func TestUnknownToolIsAFailure(t *testing.T) {
	b, _, _ := meet(t, nil, tool("work"))
	if got := failureOf(t, within(t, invoke(context.Background(), b, "fake_other"))).Sentence; got != "No MCP server offers this tool." {
		t.Errorf("got %q", got)
	}
}

func TestErrorsCarryNoWordOfTheServer(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	call := invoke(context.Background(), b, "fake_work")
	sent := p.expect(t, "tools/call")
	p.write(t, `{"jsonrpc":"2.0","id":`+string(sent.ID)+`,"error":{"code":-32000,"message":"token=canary"}}`)
	failure := failureOf(t, within(t, call))
	if failure.Error() != "MCP server fake answered with error code -32000." || failure.MayHaveRun {
		t.Errorf("got %+v", failure)
	}
}

// pages answers one tools/list after the other and returns the names of the tools that came of it.
func pages(t *testing.T, results ...string) []string {
	t.Helper()
	r := newRelay(t)
	b := open(t, Config{Servers: []Server{r.server("fake")}})
	listed := async(func() []sdk.NativeTool { return b.Tools(context.Background()) })
	p := r.accept(t)
	p.greet(t)
	for _, result := range results {
		p.reply(t, p.expect(t, "tools/list"), result)
	}
	return names(within(t, listed))
}

func TestEveryPageOfAToolListIsRead(t *testing.T) {
	read := pages(t, `{"tools":[`+tool("a")+`],"nextCursor":"1"}`, `{"tools":[`+tool("b")+`],"nextCursor":"2"}`, `{"tools":[`+tool("c")+`]}`)
	if diff := cmp.Diff([]string{"fake_a", "fake_b", "fake_c"}, read); diff != "" {
		t.Error(diff)
	}
}

func TestToolListThatGoesInCirclesEnds(t *testing.T) {
	read := pages(t, `{"tools":[`+tool("a")+`],"nextCursor":"1"}`, `{"tools":[`+tool("b")+`],"nextCursor":"1"}`)
	if diff := cmp.Diff([]string{"fake_a", "fake_b"}, read); diff != "" {
		t.Error(diff)
	}
}

func TestMessagesInABatchAreTakenApart(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	first := invoke(context.Background(), b, "fake_work")
	one := p.expect(t, "tools/call")
	second := invoke(context.Background(), b, "fake_work")
	two := p.expect(t, "tools/call")
	p.write(t, fmt.Sprintf(`[7,[],{"jsonrpc":"2.0","id":%s,"result":{"content":"two"}},{"jsonrpc":"2.0","id":%s,"result":{"content":"one"}}]`, two.ID, one.ID))
	if a, b := within(t, first).result.Content, within(t, second).result.Content; a != "one" || b != "two" {
		t.Errorf("got %q and %q", a, b)
	}
}

func TestBrokenUTF8InAResultIsSurvived(t *testing.T) {
	b, _, p := meet(t, nil, tool("work"))
	call := invoke(context.Background(), b, "fake_work")
	sent := p.expect(t, "tools/call")
	p.reply(t, sent, "{\"content\":[{\"type\":\"text\",\"text\":\"a\xff\xc0b\"},{\"type\":\"image\",\"data\":\"\xff\"}]}")
	got := within(t, call)
	if got.result.Content != "a\uFFFD\uFFFDb\n[image unnamed, 2 bytes]" || !utf8.Valid(got.result.Whole) {
		t.Errorf("got %+v", got)
	}
}
