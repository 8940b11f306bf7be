package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every command that the guide for authors shows is run by a script.
func TestCommandsOfTheAuthorsGuideAreRunByAScript(t *testing.T) {
	guide, err := os.ReadFile("../../docs/plugin-authors.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/script/plugin_author.txtar")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^    \$ (.+)$`).FindAllStringSubmatch(string(guide), -1)
	if len(commands) < 10 {
		t.Fatalf("the guide shows %d commands", len(commands))
	}
	for _, command := range commands {
		if !strings.Contains(string(script), "exec "+command[1]+"\n") {
			t.Errorf("no script runs: %s", command[1])
		}
	}
}
