package house

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRulesFindWhatTheyForbid(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		rule             func(Source) []Finding
		want             string // part of the only finding; empty for none
	}{
		{"long file", "a/a.go", "package a\n" + strings.Repeat("\n", 400), Oversized, "the file has 401 lines"},
		{"long test", "a/a_test.go", "package a\n" + strings.Repeat("\n", 400), Oversized, ""},
		{"long function", "a/a.go", "package a\nfunc f() {\n" + strings.Repeat("\n", 60) + "}\n", Oversized, "f has 62 lines"},
		{"parameters", "a/a.go", "package a\nfunc f(a, b, c, d, e, g int) {}\n", Oversized, "f takes 6 parameters"},
		{"interface", "a/a.go", "package a\ntype I interface{ A(); B(); C(); D(); E(); F() }\n", Oversized, "declares 6 methods"},
		{"embedding", "a/a.go", "package a\ntype I interface{ J; K; L; M; N; O }\n", Oversized, ""},
		{"deep", "a/a.go", "package a\nfunc f() { for { if x { switch { case y: if z {} } } } }\n", Oversized, "f is nested 4 deep"},
		{"deep in a literal", "a/a.go", "package a\nfunc f() { for { if x { func() { for { if z {} } }() } } }\n", Oversized, "f is nested 4 deep"},
		{"else if", "a/a.go", "package a\nfunc f() { for { if x {} else if y {} else if z {} else { if w {} } } }\n", Oversized, ""},
		{"init", "a/a.go", "package a\nfunc init() {}\n", Misbehaving, "init functions"},
		{"init of a guest", "a/main_wasip1.go", "package main\nfunc init() {}\n", Misbehaving, ""},
		{"sleep", "a/a_test.go", "package a\nfunc f() { time.Sleep(1) }\n", Misbehaving, "tests do not sleep"},
		{"sleep on a jumping clock", "a/a_test.go", "package a\nfunc f() { synctest.Test(t, func() { time.Sleep(1) }) }\n", Misbehaving, ""},
		{"skip", "a/a_test.go", "package a\nfunc f(t T) { t.Skip(\"slow\") }\n", Misbehaving, "a skipped test says"},
		{"reasoned skip", "a/a_test.go", "package a\nfunc f(t T) { t.Skip(\"peer not installed: node\") }\n", Misbehaving, ""},
		{"context", "a/a.go", "package a\ntype S struct{ c context.Context }\n", Misbehaving, "keeps a context"},
		{"options", "a/a.go", "package a\ntype MyOption func(*S)\n", Misbehaving, "functional options"},
		{"recover", "a/a.go", "package a\nfunc f() { recover() }\n", Misbehaving, "recover belongs"},
		{"name", "a/helpers_test.go", "package a\n", Misnamed, "says nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, c.rule(source(t, c.file, c.text)), c.want)
		})
	}
}

func TestUndocumentedNamesAreFound(t *testing.T) {
	for text, want := range map[string]string{
		"package a\n": "no package comment",
		"// Package a is.\npackage a\nfunc F() {}\n":                       "F has no doc comment",
		"// Package a is.\npackage a\ntype T int\n":                        "T has no doc comment",
		"// Package a is.\npackage a\nvar V int\n":                         "V has no doc comment",
		"// Package a is.\npackage a\ntype t int\nfunc (t) F()\n":          "",
		"// Package a is.\npackage a\n// Two.\nconst (\nA = 1\nB = 2\n)\n": "",
		"// Package a is.\npackage a\nconst A = 1 // one\n":                "",
	} {
		expect(t, Undocumented([]Source{source(t, "a/a.go", text)}), want)
	}
}

func TestChangedPackageVariablesAreFound(t *testing.T) {
	for text, want := range map[string]string{
		"var v int; func f() { v = 1 }":                     "v is changed",
		"var v int; func f() { v++ }":                       "v is changed",
		"var v map[string]int; func f() { v[`a`] = 1 }":     "v is changed",
		"var v map[string]int; func f() { delete(v, `a`) }": "v is changed",
		"var v struct{ a int }; func f() { v.a += 1 }":      "v is changed",
		"var v int; func f() { g(&v) }":                     "v is changed",
		"var v sync.Mutex":                                  "v exists to change",
		"var v atomic.Pointer[int]":                         "v exists to change",
		"var v = 1; func f() int { return v }":              "",
		"var v = 1; func f() { v := 2; v = 3 }":             "",
		"var v = 1; func f(v int) { v = 3 }":                "",
		"var v = map[string]int{`a`: 1}":                    "",
	} {
		expect(t, Mutable([]Source{source(t, "a/a.go", "package a\n"+text)}), want)
	}
}

func TestVariableOfAnotherFileIsSeenToChange(t *testing.T) {
	expect(t, Mutable([]Source{
		source(t, "a/a.go", "package a\nvar v int\n"),
		source(t, "a/b.go", "package a\nfunc f() { v = 2 }\n"),
	}), "a/b.go:2: package variable v is changed")
}

func TestUnplannedImportsAreFound(t *testing.T) {
	plan, err := ReadPlan("# comment\na | says something | b | example.com/mod\nb | is there too | - | -\ntests | - | - | example.com/cmp\n")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`import "m/b"`:                  "",
		`import "os"`:                   "",
		`import "example.com/mod/deep"`: "",
		`import "m/c"`:                  "a may not import c",
		`import "example.com/other"`:    "a may not use the module example.com/other",
		`import "example.com/cmp"`:      "a may not use the module example.com/cmp",
		`import "example.com/modular"`:  "belongs to no module",
	} {
		tree := Tree{
			Module: "m", Required: []string{"example.com/mod", "example.com/other", "example.com/cmp"},
			Sources: []Source{
				source(t, "a/a.go", "package a\n"+text), source(t, "b/b.go", "package b\n"),
				source(t, "b/b_test.go", "package b\nimport (\"m/a\"; \"example.com/cmp\")\n"),
			},
		}
		expect(t, Unplanned(tree, plan), want)
	}
}

func TestUnplannedRoomsAreFoundBothWays(t *testing.T) {
	plan, err := ReadPlan("a | says something | - | -\n")
	if err != nil {
		t.Fatal(err)
	}
	found := Unplanned(Tree{Sources: []Source{source(t, "b/b.go", "package b\n")}}, plan)
	want := []Finding{{"b/b.go:1", "package b is not in floorplan.txt"}, {"floorplan.txt:1", "a does not exist"}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMalformedPlanIsRefused(t *testing.T) {
	for _, text := range []string{"a | b | c", "a | b | - | -\na | b | - | -"} {
		if _, err := ReadPlan(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestWorkLeftForLaterIsFound(t *testing.T) {
	for text, want := range map[string]string{
		"// TO" + "DO later":        "a.go:1: mentions TO" + "DO",
		"x\nsee /sha" + "red/x":     "a.go:2: mentions /sha" + "red/",
		"isolation: shared":         "",
		"-buildmode=c-sha" + "red/": "",
	} {
		expect(t, Unfinished("a.go", []byte(text)), want)
	}
}

func source(t *testing.T, name, text string) Source {
	t.Helper()
	s, err := parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// expect wants one finding that holds a text, or none.
func expect(t *testing.T, found []Finding, want string) {
	t.Helper()
	switch {
	case want == "" && len(found) > 0:
		t.Errorf("found %v, want nothing", found)
	case want != "" && (len(found) != 1 || !strings.Contains(fmt.Sprint(found[0]), want)):
		t.Errorf("found %v, want %q alone", found, want)
	}
}
