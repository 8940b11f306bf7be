package workbench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

// noWords refuses the parts that are written as in the configuration.
func noWords() Words {
	return Words{
		Grants: func([]byte) (sdk.Capabilities, error) { return sdk.Capabilities{}, nil },
		Limits: func([]byte) (sdk.Limits, error) { return sdk.Limits{}, nil },
	}
}

// folder lays out a plugin with cases, by their names.
func folder(t *testing.T, module []byte, cases map[string]string) string {
	t.Helper()
	path := written(t, module)
	dir := filepath.Join(filepath.Dir(path), casesDir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range cases {
		if err := os.WriteFile(filepath.Join(dir, name+".txtar"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Dir(path)
}

func tested(t *testing.T, dir string) TestReport {
	t.Helper()
	subject, err := Open(dir, noWords())
	if err != nil {
		t.Fatal(err)
	}
	report, err := Test(t.Context(), subject)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// onlyDifferences runs one case of a module that allows everything.
func onlyDifferences(t *testing.T, text string) []string {
	t.Helper()
	report := tested(t, folder(t, answering(t, policy, `{"action":"allow","reason":"so"}`), map[string]string{"one": text}))
	return report.Cases[0].Differences
}

func TestCaseSaysWhatDiffers(t *testing.T) {
	const asks = "A case.\n-- input --\n{\"tool\":\"exec\"}\n"
	for _, c := range []struct{ wants, says string }{
		{"-- want --\n{\"action\":\"allow\"}\n", ""},
		{"-- want --\n{\"action\":\"deny\"}\n", `action: want "deny", got "allow"`},
		{"-- want --\n{\"pattern_matched\":\"x\"}\n", `pattern_matched: want "x", got nothing`},
		{"-- want --\n{\"pattern_matched\":null}\n", ""},
		{"-- want-exact --\n{\"action\":\"allow\"}\n", `reason: want nothing, got "so"`},
		{"-- want-exact --\n{\"action\":\"allow\",\"reason\":\"so\"}\n", ""},
		{"-- want-error --\nplugin_trap\n", `want the error plugin_trap, got the answer {"action":"allow","reason":"so"}`},
		{"", "it wants nothing: add -- want -- or -- want-error --, or let --update write what came"},
		{"-- op --\ninject\n-- want-error --\nplugin_unavailable\n", ""},
	} {
		if diff := cmp.Diff(c.says, strings.Join(onlyDifferences(t, asks+c.wants), "\n")); diff != "" {
			t.Errorf("%s\n%s", c.wants, diff)
		}
	}
}

func TestCaseThatIsWrittenWronglyIsRefused(t *testing.T) {
	const wants = "-- want --\n{}\n"
	for _, c := range []struct{ text, says string }{
		{wants, "-- input -- is missing"},
		{"-- input --\n{\n" + wants, "-- input --"},
		{"-- input --\n{} {}\n" + wants, "bytes after"},
		{"-- input --\n{}\n-- input --\n{}\n" + wants, "stands there twice"},
		{"-- input --\n{}\n-- wants --\n{}\n", "no case has such a part"},
		{"-- input --\n{}\n-- op --\nask\n" + wants, `"ask" is none of call, evaluate`},
		{"-- input --\n{}\n-- files/../x --\n" + wants, "leaves the workspace"},
		{"-- input --\n{}\n-- want-file//x --\n" + wants, "leaves the workspace"},
		{"-- input --\n{}\n-- want-error --\nplugin_trap\n" + wants, "an answer and an error"},
		{"-- input --\n{}\n-- http --\n[{\"reply\":1}]\n" + wants, "unknown field"},
	} {
		_, err := Open(folder(t, answering(t, policy, allows), map[string]string{"one": c.text}), noWords())
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "one.txtar") {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}

func TestPluginWithoutCasesSaysWhereToWriteOne(t *testing.T) {
	subject, err := Open(written(t, answering(t, policy, allows)), noWords())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Test(t.Context(), subject); err == nil || !strings.Contains(err.Error(), filepath.Join("cases", "NAME.txtar")) {
		t.Error(err)
	}
}

func TestFolderWithoutAModuleSaysHowToBuildIt(t *testing.T) {
	if _, err := Open(t.TempDir(), noWords()); err == nil || !strings.Contains(err.Error(), "fastreact plugin build") {
		t.Error(err)
	}
}

func TestUpdatedCasePassesAndKeepsItsWords(t *testing.T) {
	text := "Why it is so.\n-- input --\n{\"tool\": \"exec\"}\n-- want --\n{\"action\": \"deny\"}\n"
	dir := folder(t, answering(t, policy, allows), map[string]string{"one": text})
	subject, err := Open(dir, noWords())
	if err != nil {
		t.Fatal(err)
	}
	report, err := Test(t.Context(), subject)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Update(subject, report); err != nil {
		t.Fatal(err)
	}
	updated, err := os.ReadFile(subject.Cases[0].path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(text, `{"action": "deny"}`, "{\n  \"action\": \"allow\"\n}", 1)
	if diff := cmp.Diff(want, string(updated)); diff != "" {
		t.Error(diff)
	}
	if report := tested(t, dir); !report.OK {
		t.Error(report.Cases[0].Differences)
	}
}

func TestCaseFillsWhatAHostAlwaysSends(t *testing.T) {
	c := &Case{Op: sdk.OpEvaluate, Input: []byte(`{"tool":"exec","now":"2030-01-01T00:00:00Z"}`)}
	if err := c.fill(); err != nil {
		t.Fatal(err)
	}
	want := `{"tool":"exec","now":"2030-01-01T00:00:00Z","args":{},"static":{"action":"allow"},` +
		`"identity":{"user_key":"pska:author","tenant_key":"pska","user_id":"author"}}`
	if lines := differences([]byte(want), c.Input, true); len(lines) > 0 {
		t.Error(lines)
	}
}

func TestNumbersAreComparedByValue(t *testing.T) {
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{`1`, `1.0`, true},
		{`1e2`, `100`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`1`, `"1"`, false},
		{`1e999999999`, `1e999999998`, false},
		{`[1]`, `[1,2]`, false},
		{`{}`, `[]`, false},
		{`true`, `{}`, false},
	} {
		if got := len(differences([]byte(c.want), []byte(c.got), true)) == 0; got != c.same {
			t.Errorf("%s and %s: %v", c.want, c.got, got)
		}
	}
}

func TestTextsAreComparedByLines(t *testing.T) {
	got := textDifferences("file a", []byte("one\ntwo\nthree\n"), []byte("one\n2\nthree\n"))
	if diff := cmp.Diff([]string{"file a differs at line 2:", "- two", "+ 2"}, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzCasesAreReadOrRefused(f *testing.F) {
	f.Add("x\n-- input --\n{}\n-- want --\n{}\n-- files/a --\nb\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "one.txtar")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := readCase(path, sdk.KindTool, noWords()); err == nil && len(c.Input) == 0 {
			t.Error("a case without input was read")
		}
	})
}
