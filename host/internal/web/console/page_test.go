package console_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/testdata/peers"
)

// scripts returns the modules of the page by name.
func scripts(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	paths, err := fs.Glob(os.DirFS("page"), "*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join("page", path))
		if err != nil {
			t.Fatal(err)
		}
		found[path] = string(text)
	}
	return found
}

func TestThePageTakesTheStreamOfTheContractAndNothingElse(t *testing.T) {
	t.Parallel()
	runProgram(t, 40, bench(t), "protocol.mjs")
}

func TestThePageAsksInOnePlaceAndOverTheStreamOnly(t *testing.T) {
	requests := 0
	for name, text := range scripts(t) {
		requests += strings.Count(text, `"/api/chat"`)
		for _, forbidden := range []string{"chat_stream", ".json(", "EventSource", "XMLHttpRequest", "WebSocket"} {
			if strings.Contains(text, forbidden) {
				t.Errorf("%s has %s", name, forbidden)
			}
		}
	}
	if requests != 1 {
		t.Errorf("the page asks in %d places, want one", requests)
	}
}

func TestThePageMakesNoMarkupOfText(t *testing.T) {
	for name, text := range scripts(t) {
		for _, forbidden := range []string{
			"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(", "new Function",
			"createContextualFragment", "srcdoc", "localStorage", "sessionStorage", "document.cookie",
		} {
			if strings.Contains(text, forbidden) {
				t.Errorf("%s has %s", name, forbidden)
			}
		}
	}
}

func TestThePageHoldsNoScriptAndNoStyleOfItsOwn(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("page", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, forbidden := range []string{"<style", "style=", " onclick", " onload", "javascript:", "<script>", "http://", "https://"} {
		if strings.Contains(string(text), forbidden) {
			t.Errorf("index.html has %s", forbidden)
		}
	}
}

func TestTheModulesOfThePageKeepTheTypesTheyDeclare(t *testing.T) {
	t.Parallel()
	check := filepath.Join(peers.Modules(t), ".bin", "tsc")
	if _, err := os.Stat(check); err != nil {
		peers.Missing(t, "tsc (npm ci --ignore-scripts --prefix .ci/peers)")
	}
	folder := bench(t)
	tsc := exec.Command(peers.Node(t), check, "--noEmit", "--checkJs", "--allowJs", "--strict", "--noUnusedLocals",
		"--noImplicitReturns", "--exactOptionalPropertyTypes", "--target", "es2023", "--module", "esnext",
		"--moduleResolution", "bundler", "--types", "", "--lib", "es2023,dom,dom.iterable", filepath.Join("page", "app.js"))
	tsc.Dir = folder
	if out, err := tsc.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
