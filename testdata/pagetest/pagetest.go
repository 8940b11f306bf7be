// Package pagetest holds every page to the same: no markup is made of text, its modules keep the types they declare, and
// its test programs run in node, with a browser and the page's own modules in reach. What a page does is left to them.
package pagetest

import (
	"embed"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/testdata/peers"
)

//go:embed program
var programs embed.FS

// Bench lays out a folder for test programs: those of the given folder beside the ones that every page uses, the modules
// of the page below page/, and the npm peers. page may be empty: the programs then use no module of a page.
func Bench(t testing.TB, page, programsFolder string) string {
	t.Helper()
	folder := t.TempDir()
	lay(t, folder, os.DirFS(programsFolder))
	own, err := fs.Sub(programs, "program")
	if err != nil {
		t.Fatal(err)
	}
	lay(t, folder, own)
	if page != "" {
		lay(t, filepath.Join(folder, "page"), os.DirFS(page))
		lay(t, filepath.Join(folder, "page"), os.DirFS(filepath.Join(page, "..", "..", "parts")))
	}
	if err := os.WriteFile(filepath.Join(folder, "package.json"), []byte(`{"type":"module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(peers.Modules(t), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return folder
}

func lay(t testing.TB, folder string, files fs.FS) {
	t.Helper()
	if err := os.CopyFS(folder, files); err != nil {
		t.Fatal(err)
	}
}

// Browser returns the setting that names the browser to a test program, and skips the test where there is none.
func Browser(t testing.TB) string {
	t.Helper()
	const chromium = "/usr/bin/chromium"
	if _, err := os.Stat(chromium); err != nil {
		peers.Missing(t, "chromium")
	}
	if _, err := os.Stat(filepath.Join(peers.Modules(t), "playwright-core")); err != nil {
		peers.Missing(t, "playwright-core (npm ci --ignore-scripts --prefix .ci/peers)")
	}
	return "CHROMIUM=" + chromium
}

// KeepsItsTypes checks the modules of a page, which Bench has laid out, from the one that starts it.
func KeepsItsTypes(t testing.TB, bench, entry string) {
	t.Helper()
	check := filepath.Join(peers.Modules(t), ".bin", "tsc")
	if _, err := os.Stat(check); err != nil {
		peers.Missing(t, "tsc (npm ci --ignore-scripts --prefix .ci/peers)")
	}
	tsc := exec.Command(peers.Node(t), check, "--noEmit", "--checkJs", "--allowJs", "--strict", "--noUnusedLocals",
		"--noImplicitReturns", "--exactOptionalPropertyTypes", "--target", "es2023", "--module", "esnext",
		"--moduleResolution", "bundler", "--types", "", "--lib", "es2023,dom,dom.iterable", filepath.Join("page", entry))
	tsc.Dir = bench
	if out, err := tsc.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Scripts returns the modules of a page by name, with those that every page shares.
func Scripts(t testing.TB, page string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, folder := range []string{page, filepath.Join(page, "..", "..", "parts")} {
		eachFile(t, folder, ".js", func(name, text string) { found[name] = text })
	}
	return found
}

func eachFile(t testing.TB, folder, ext string, do func(name, text string)) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ext {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		do(entry.Name(), string(text))
	}
}

// MakesNoMarkup finds what could make markup or code of a text, keep a secret in the browser, or break the policy of the
// page: in its modules and its documents.
func MakesNoMarkup(t testing.TB, page string) {
	t.Helper()
	refuse := func(name, text string, words []string) {
		for _, forbidden := range words {
			if strings.Contains(text, forbidden) {
				t.Errorf("%s has %s", name, forbidden)
			}
		}
	}
	scripts := Scripts(t, page)
	if len(scripts) < 2 {
		t.Errorf("only %d modules were read", len(scripts))
	}
	for name, text := range scripts {
		refuse(name, text, []string{
			"innerHTML", "outerHTML", "insertAdjacentHTML", "setHTML", "document.write", "DOMParser", "eval(", "new Function",
			"createContextualFragment", "srcdoc", "localStorage", "sessionStorage", "document.cookie",
		})
	}
	eachFile(t, page, ".html", func(name, text string) {
		refuse(name, text, []string{"<style", "style=", " onclick", " onload", "javascript:", "<script>", `="http://`, "https://"})
	})
}
