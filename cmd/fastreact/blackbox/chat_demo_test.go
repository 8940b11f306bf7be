package blackbox

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What `make run` shows: nothing but the scripted demo model and the log that comes with it.
func TestTheDemoAnswersAGreetingAndDiagnosesItsLog(t *testing.T) {
	logs, err := filepath.Abs("../../../examples/demo/logs")
	if err != nil {
		t.Fatal(err)
	}
	s := startEdited(t, newModel(t, nil), func(config string) string {
		return regexp.MustCompile(`(?m)^ *model:.*\n`).ReplaceAllString(config, "") +
			"harness: {chat: {evidence: {logs: {roots: ['" + logs + "']}}}}\n"
	})
	if got := s.chats("hello").one("content")["content_type"]; got != "ANSWER" {
		t.Errorf("a greeting is answered with %v", got)
	}
	v := s.chats("diagnose the shop")
	content := v.one("content")
	if content["content_type"] != "DIAGNOSIS_REPORT" || !strings.Contains(v.raw, "nightly-revenue") {
		t.Errorf("the demo diagnoses its log with\n%s", v.raw)
	}
	if got := v.one("done")["outcome"]; got != "SUCCESS" {
		t.Errorf("done: %v", got)
	}
	for _, hint := range []string{s.url + "/ui/", s.url + "/api/chat"} {
		if !strings.Contains(s.output.String(), hint) {
			t.Errorf("the start does not name %s:\n%s", hint, s.output)
		}
	}
}
