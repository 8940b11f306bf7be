package contract

import (
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk/plugintest"
)

// absent holds what a machine has and this shell has not: it says so.
func absent() []plugintest.Case {
	return []plugintest.Case{
		{Name: "programs that cannot exist here say why", Run: notAvailable},
		{Name: "a name that nobody knows is not found", Run: contains("frobnicate", 127, "frobnicate: command not found")},
		{Name: "awk starts no commands", Run: contains(`awk 'BEGIN { system("ls") }'`, 2, "sandbox without processes")},
		{Name: "awk opens no pipes", Run: contains(`awk 'BEGIN { "ls" | getline x }'`, 2, "sandbox without processes")},
		{Name: "sed starts no commands", Run: contains("sed 'e ls' /dev/null", 2, "not available")},
		{Name: "a binary is not run", Run: contains(`printf '\177ELF\0\0' > b; chmod +x b; ./b`, 126, "cannot execute binary file")},
		{Name: "a script runs by its name whether or not it was marked executable", Run: says("echo 'echo ran' > s; ./s", "ran\n", 0)},
		{Name: "there is no network device", Run: notOpened("/dev/tcp/127.0.0.1/80")},
	}
}

func notAvailable(t *testing.T, plugin *plugintest.Plugin) {
	for name, reason := range map[string]string{
		"curl": "network", "wget": "network", "ssh": "network", "ping": "network", "python3": "no other programs", "git": "no other programs",
		"gcc": "no other programs", "node": "no other programs", "sudo": "privileges", "chown": "privileges", "ps": "processes",
		"kill": "processes", "jobs": "processes", "docker": "processes", "vim": "terminal",
	} {
		got := run(t, plugin, name+" x")
		if got.Status != 127 || !strings.Contains(got.Content, name+": not available: this shell runs inside a sandbox") || !strings.Contains(got.Content, reason) {
			t.Errorf("%s: status %d, %q", name, got.Status, got.Content)
		}
	}
}

func notOpened(name string) func(*testing.T, *plugintest.Plugin) {
	return func(t *testing.T, plugin *plugintest.Plugin) {
		for _, command := range []string{"cat < " + name, "cat " + name, "echo x > " + name} {
			if got := run(t, plugin, command); got.Status == 0 {
				t.Errorf("%s: %q", command, got.Content)
			}
		}
	}
}
