package release_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/release"
)

func tools() []release.Tool {
	return []release.Tool{
		{Name: "pska_pska_search", Raw: "pska_search"},
		{Name: "docs_find", Raw: "find"},
		{Name: "exec", Raw: "exec"},
		{Name: "read_file", Raw: "read_file"},
		{Name: "search", Raw: "search"},
		{Name: "files_readAll", Raw: "readAll"},
	}
}

// terms are what an answer gives away when the caller and the tools said these words before.
func terms(answer string, said ...string) []string {
	found := []string{}
	for _, f := range release.NewCheck(tools(), said).Find(answer) {
		found = append(found, string(f.Kind)+" "+f.Term)
	}
	return found
}

func TestAnAnswerThatGivesAwayTheMachineryIsFound(t *testing.T) {
	for answer, want := range map[string]string{
		"I called pska_pska_search.":                 "tool_name pska_pska_search",
		"I called PSKA_SEARCH twice.":                "tool_name pska_search",
		`I called pska\_pska\_search.`:               "tool_name pska_pska_search",
		"我使用pska_search工具。":                          "tool_name pska_search",
		"See readAll().":                             "tool_name readAll",
		"With `exec` it works.":                      "tool_name exec",
		"I used exec for that.":                      "tool_name exec",
		"the **exec** tool":                          "tool_name exec",
		"exec(\"ls\")":                               "tool_name exec",
		"I asked using the search tool.":             "tool_name search",
		"FastReAct found it.":                        "word FastReAct",
		"fastreact's answer":                         "word FastReAct",
		"A GraphRAG index":                           "word GraphRAG",
		"The MCP server":                             "word MCP",
		"Two MCPs":                                   "word MCP",
		"an mcp-server":                              "word MCP",
		"[SAFETY_BLOCKED] Policy denies tool":        "marker [SAFETY_BLOCKED]",
		"It says [MCP_ERROR] and stops.":             "marker [MCP_ERROR]",
		"MCP_ERROR was there":                        "marker MCP_ERROR",
		`{"tool_call_id":"call_1"}`:                  "marker tool_call_id",
		"[TOOL_POLICY_DENIED] tool is not in run":    "marker [TOOL_POLICY_DENIED]",
		"The tool_argument_issue came back.":         "marker tool_argument_issue",
		"[ERROR] Tool 'x' not found":                 "marker [ERROR]",
		"Graph, search, find, exec, and MCPlike run": "",
		"We search and find; an executive searches.": "",
		"my_pska_search_2 is another word":           "",
		"[1] An answer may begin so.":                "",
		"I used it. exec is a word.":                 "",
		"GraphRAGs":                                  "word GraphRAG",
		"Readall is a word":                          "",
	} {
		got := strings.Join(terms(answer), ", ")
		if got != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
	}
}

func TestADisguiseHidesNoName(t *testing.T) {
	for answer, want := range map[string]string{
		"_MCP_ says so.":                     "word MCP",
		"It was __FastReAct__.":              "word FastReAct",
		"See _pska_search_ for it.":          "tool_name pska_search",
		"___pska_pska_search___ did.":        "tool_name pska_pska_search",
		"the _exec_ tool":                    "tool_name exec",
		"The MCP_SERVER and my_fastreact_id": "word MCP, word FastReAct",
		"M\u200bCP":                          "word MCP",
		"Fast\u00adRe\u2060Act":              "word FastReAct",
		"pska\u200d_search was asked":        "tool_name pska_search",
		"\ufeffMCP\u202c":                    "word MCP",
		"ＭＣＰ by ｐｓｋａ＿search":                 "word MCP, tool_name pska_search",
		"search（搜索）":                         "",
		"pska\\_pska_search":                 "tool_name pska_pska_search",
		"\\[SAFETY\\_BLOCKED\\] no":          "marker [SAFETY_BLOCKED]",
		"_my_pska_search_2_":                 "",
		"pska_search__2":                     "",
		"Graph\u200b, M\u200bC and P":        "",
	} {
		if got := strings.Join(terms(answer), ", "); got != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
		if kept, _ := release.NewCheck(tools(), nil).Drop("Alpha.\n\n" + answer); want != "" && kept != "Alpha." {
			t.Errorf("%q: kept %q", answer, kept)
		}
	}
	if got := terms("_MCP_ and MCP", "What is M\u00adCP?"); len(got) > 0 {
		t.Errorf("the question's own word: %v", got)
	}
}

func TestWhatOthersSaidFirstMayBeSaidAgain(t *testing.T) {
	if got := terms("MCP and pska_search and FastReAct.", "What is mcp?", "… PSKA_search …"); !cmp.Equal(got, []string{"word FastReAct"}) {
		t.Errorf("found %v", got)
	}
}

func TestOnlyTheSentencesThatGiveAwayAreDropped(t *testing.T) {
	for answer, want := range map[string]string{
		"Alpha is one. MCP said so. Beta is two.":    "Alpha is one. Beta is two.",
		"Alpha is one. MCP said so.\n\nBeta is two.": "Alpha is one.\n\nBeta is two.",
		"- Alpha\n- from MCP\n- Beta\n":              "- Alpha\n- Beta",
		"It is 3.14 by MCP. Done.":                   "Done.",
		"Code:\n\n```\nMCP\n```\n\nEnd.":             "Code:\n\nEnd.",
		"MCP.":                                       "",
		"I used pska_search. I used exec.":           "",
		"这是一。MCP说的。这是二。":                             "这是一。这是二。",
		"[1] Alpha. MCP.":                            "[1] Alpha.",
		"Alpha.":                                     "Alpha.",
		"# MCP\nAlpha.":                              "Alpha.",
		"| a | b |\n|---|---|\n| MCP | x |\n| 1 | 2 |\n\nThe end.":  "| a | b |\n|---|---|\n| 1 | 2 |\n\nThe end.",
		"Alpha (see e.g. the MCP docs, p. 3) is one. Beta is Beta.": "Beta is Beta.",
	} {
		kept, _ := release.NewCheck(tools(), nil).Drop(answer)
		if kept != want {
			t.Errorf("%q became %q, want %q", answer, kept, want)
		}
		if again := release.NewCheck(tools(), nil).Find(kept); len(again) > 0 {
			t.Errorf("%q still holds %v", kept, again)
		}
	}
}

func TestALongAnswerIsLookedThroughInOneSweep(t *testing.T) {
	answer := strings.Repeat("MCP. Alpha.\n", 200_000)
	kept, dropped := release.NewCheck(tools(), nil).Drop(answer)
	if dropped != 200_000 || strings.Contains(kept, "MCP") {
		t.Errorf("%d dropped", dropped)
	}
}

func TestTheRuntimesOwnResultsAreNoTools(t *testing.T) {
	for text, want := range map[string]bool{"[MCP_ERROR] gone": true, "[ERROR] Tool 'x' not found": true, "x [ERROR]": false} {
		if release.Marked(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func FuzzNothingIsLeftOfWhatMustNotLeave(f *testing.F) {
	f.Add("It was used. MCP. exec is a word. `exec` (pska_search)\n- FastReAct\n```\nMCP\n```\nend")
	f.Add("ＭＣＰ \u200bFast\u00adReAct \\_ _exec_ pska\\_search")
	f.Add("\x80FAstReACt") // no UTF-8: every byte keeps its place
	f.Fuzz(func(t *testing.T, answer string) {
		check := release.NewCheck(tools(), nil)
		kept, dropped := check.Drop(answer)
		if found := check.Find(kept); len(found) > 0 {
			t.Errorf("%q still holds %v", kept, found)
		}
		if dropped == 0 && kept != answer {
			t.Errorf("%q became %q and nothing was dropped", answer, kept)
		}
	})
}
