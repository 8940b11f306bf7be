package contract

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk/plugintest"
	"github.com/fastreact/fastreact/testdata/peers"
)

//go:embed everyday.txt setup.sh
var scripts embed.FS

// everyday makes a case of every script: it must print and end as under bash.
func everyday() []plugintest.Case {
	var cases []plugintest.Case
	for _, script := range read() {
		cases = append(cases, plugintest.Case{Name: "bash agrees: " + script, Run: func(t *testing.T, plugin *plugintest.Plugin) {
			asBash(t, plugin, script)
		}})
	}
	return cases
}

// read returns the scripts: one on a line; a line that opens a here-document goes on to its end.
func read() []string {
	text, err := scripts.ReadFile("everyday.txt")
	if err != nil {
		panic(fmt.Sprintf("contract: the embedded list is always there: %v", err))
	}
	var all []string
	end := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if end == "" {
			all = append(all, line)
			if strings.Contains(line, "<<") && strings.Contains(line, "EOF") {
				end = "EOF"
			}
			continue
		}
		all[len(all)-1] += "\n" + line
		if strings.TrimLeft(line, "\t") == end {
			end = ""
		}
	}
	return all
}

func asBash(t *testing.T, plugin *plugintest.Plugin, script string) {
	peers.Need(t, "bash", "awk", "jq", "bc", "xxd", "column")
	setup, err := scripts.ReadFile("setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	want, status := bash(t, string(setup)+script)
	got := run(t, plugin, string(setup)+"{ "+script+"\n} 2> /dev/null")
	text := strings.TrimSuffix(got.Content, fmt.Sprintf("[exit code %d]\n", got.Status))
	text = strings.TrimSuffix(text, "[no output, exit code 0]\n")
	if strings.TrimSuffix(text, "\n") != strings.TrimSuffix(want, "\n") || got.Status != status {
		t.Errorf("status %d, printed\n%s\nbash: status %d, printed\n%s", got.Status, text, status, want)
	}
}

// bash runs a script under the real thing, in a folder of its own.
func bash(t *testing.T, script string) (output string, status int) {
	t.Helper()
	dir := t.TempDir()
	command := exec.CommandContext(t.Context(), "bash", "-c", script)
	command.Dir = dir
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TZ=UTC", "HOME=" + dir, "TMPDIR=" + dir}
	data, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(data), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data), 0
}
