package house

import (
	"go/ast"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

const chatRoom = "host/internal/web/chat"

// TestDependencyInspection holds the seed's "only protocol/application collaborators are present for Chat and no model,
// Tool, old strategy, history, or executor construction remains".
func TestDependencyInspection(t *testing.T) {
	tree := module(t)
	may := []string{tree.Module + "/sdk", tree.Module + "/host/internal/run", tree.Module + "/host/internal/web"}
	seen := 0
	for _, source := range tree.Sources {
		if source.Room != chatRoom || source.Test {
			continue
		}
		seen++
		for _, spec := range source.AST.Imports {
			name := strings.Trim(spec.Path.Value, `"`)
			if first, _, _ := strings.Cut(name, "/"); strings.Contains(first, ".") && !slices.Contains(may, name) {
				t.Errorf("%s imports %s", source.Path, name)
			}
		}
		ast.Inspect(source.AST, func(n ast.Node) bool {
			if concurrent, is := n.(*ast.GoStmt); is {
				t.Error(source.finding(concurrent.Pos(), "work is begun beside the bounded worker"))
			}
			if channel, is := n.(*ast.CallExpr); is && called(channel) == "make" && buffered(channel) {
				t.Error(source.finding(channel.Pos(), "a queue of its own"))
			}
			return true
		})
	}
	if seen < 5 {
		t.Errorf("%d sources of %s were seen", seen, chatRoom)
	}
}

// called is the name of what is called, with its package.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if from, is := f.X.(*ast.Ident); is {
			return from.Name + "." + f.Sel.Name
		}
	}
	return ""
}

// buffered reports whether a channel is made that keeps what nobody takes.
func buffered(call *ast.CallExpr) bool {
	_, channel := call.Args[0].(*ast.ChanType)
	return channel && len(call.Args) > 1
}

// TestExactlyOneGraphIsConstructed holds "exactly one ChatApplicationUseCase graph": each of its parts is constructed in
// one place of the whole source, so that there can be no second one.
func TestExactlyOneGraphIsConstructed(t *testing.T) {
	want := map[string]string{
		"harness.New": "host", "chat.New": "host", "agent.New": "host", "executor.New": "host/internal/harness",
		"dispatch.New": "host", "gate.New": "host",
		"gateway.New": "host", "research.New": "host", "localagent.New": "host", "agenttools.New": "host",
	}
	places := map[string][]string{}
	for _, source := range module(t).Sources {
		if source.Test || !strings.HasPrefix(source.Path, "host") && !strings.HasPrefix(source.Path, "cmd") {
			continue
		}
		ast.Inspect(source.AST, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is && want[called(call)] != "" {
				places[called(call)] = append(places[called(call)], source.Room)
			}
			return true
		})
	}
	for name, room := range want {
		if !slices.Equal(places[name], []string{room}) {
			t.Errorf("%s is called in %v, want once in %s", name, places[name], room)
		}
	}
}

// TestFrontendRequestTarget holds "it contains one `/chat` streaming request and no `/chat_stream` or synchronous Chat
// consumer".
func TestFrontendRequestTarget(t *testing.T) {
	const page = "host/internal/web/console/page"
	requests, modules := 0, 0
	eachFile(t, page, func(name, text string) {
		if path.Ext(name) != ".js" && path.Ext(name) != ".html" {
			return
		}
		modules++
		requests += strings.Count(text, "/api/chat")
		for _, wrong := range []string{"chat_stream", "chat/completions", "EventSource(", "XMLHttpRequest", "sendBeacon"} {
			if strings.Contains(text, wrong) {
				t.Errorf("%s has %s", name, wrong)
			}
		}
	})
	if requests != 1 || modules == 0 {
		t.Errorf("%d requests of /api/chat in %d modules, want 1", requests, modules)
	}
}

// TestRemovedLegacyEndpointIsNowhere holds "removed without a compatibility branch": outside of tests and of what people
// read, nobody knows the old path.
func TestRemovedLegacyEndpointIsNowhere(t *testing.T) {
	for name, text := range module(t).Texts {
		if strings.HasSuffix(name, "_test.go") || path.Ext(name) == ".md" {
			continue
		}
		if strings.Contains(string(text), "chat_stream") {
			t.Errorf("%s knows chat_stream", name)
		}
	}
}

// scenariosOfChat are the names of the seed's scenarios.
func scenariosOfChat() []string {
	return []string{
		"Accepted Chat request", "Removed legacy endpoint", "Invalid request", "Successful diagnosis", "Safe fallback",
		"Technical failure", "Metadata identity", "Content release boundary", "Failure sanitization", "Long final report",
		"Disconnect during model work", "Disconnect before Run control publication", "Normal completion callback",
		"Worker saturation", "Dependency inspection", "Application context wiring", "MySQL Tool is not configured",
		"Configuration defaults", "Model executor saturation", "Frontend success", "Frontend protocol violation",
		"Frontend request target", "AiOps regression",
	}
}

// TestEveryScenarioOfChatHasATestWithItsWords looks for each name in tests and transcripts, as words or as one word.
func TestEveryScenarioOfChatHasATestWithItsWords(t *testing.T) {
	var told strings.Builder
	for _, folder := range []string{"host", "cmd", "plugins", "testdata/transcript"} {
		eachFile(t, folder, func(name, text string) {
			proves := strings.HasSuffix(name, "_test.go") || path.Ext(name) == ".txtar" || path.Ext(name) == ".mjs"
			if proves && !strings.HasSuffix(name, "house/chat_test.go") {
				told.WriteString(squeezed(name) + "\n" + squeezed(text) + "\n")
			}
		})
	}
	all := told.String() + "dependencyinspection frontendrequesttarget" // tests of this file
	for _, scenario := range scenariosOfChat() {
		if !strings.Contains(all, squeezed(scenario)) {
			t.Errorf("no test and no transcript says %q", scenario)
		}
	}
}

// squeezed is a text without what separates its words.
func squeezed(text string) string {
	return strings.NewReplacer(" ", "", "-", "", "_", "", "\n", "", "//", "").Replace(strings.ToLower(text))
}

// eachFile visits the text files below a folder of the module, testdata too.
func eachFile(t *testing.T, folder string, visit func(name, text string)) {
	t.Helper()
	files := os.DirFS(moduleRoot)
	err := fs.WalkDir(files, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || path.Ext(name) == ".wasm" {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err == nil {
			visit(name, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
