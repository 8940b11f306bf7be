package mcpbridge

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func namesOf(servers ...string) aliases {
	var specs []Server
	for _, name := range servers {
		specs = append(specs, Server{Name: name})
	}
	return newAliases(specs, []string{"house_tool"})
}

func TestPlainNamesStayPlain(t *testing.T) {
	a := namesOf("pska", "foo_bar")
	for _, c := range []struct{ server, raw, want string }{
		{"pska", "pska_search", "pska_pska_search"},
		{"foo_bar", "echo", "foo_bar_echo"},
	} {
		if got := a.name(c.server, c.raw); got != c.want {
			t.Errorf("%s/%s is named %q, want %q", c.server, c.raw, got, c.want)
		}
	}
}

func TestEveryNameIsUniqueAndProviderSafe(t *testing.T) {
	servers := []string{"foo.bar", "foo_bar", "foo-bar", "foo", "foo_bar_baz", "a", "a_b", "read", "house"}
	tools := []string{
		"echo", "bar_echo", "baz_echo", "b_c", "c", "file", "tool", "ünïcode", "with space", "with.dot", "with_dot",
		strings.Repeat("x", 80), strings.Repeat("x", 81), "echo_x0123456789ab",
	}
	a := namesOf(servers...)
	valid := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	seen := map[string]string{"read_file": "the file tool", "house_tool": "the house's tool"}
	for _, server := range servers {
		for _, raw := range tools {
			name, pair := a.name(server, raw), fmt.Sprintf("%s/%s", server, raw)
			if !valid.MatchString(name) {
				t.Errorf("%s is named %q", pair, name)
			}
			if other, taken := seen[name]; taken {
				t.Errorf("%s and %s are both named %q", pair, other, name)
			}
			seen[name] = pair
		}
	}
}

func TestNameDoesNotDependOnOtherTools(t *testing.T) {
	if a, b := namesOf("foo.bar").name("foo.bar", "echo"), namesOf("foo.bar", "x").name("foo.bar", "echo"); a != b {
		t.Errorf("%q became %q", a, b)
	}
}

func FuzzAliasIsProviderSafe(f *testing.F) {
	f.Add("pska", "pska_search")
	f.Add("foo.bar", "ü")
	valid := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	f.Fuzz(func(t *testing.T, server, raw string) {
		if name := namesOf(server, "other").name(server, raw); !valid.MatchString(name) {
			t.Errorf("%q/%q is named %q", server, raw, name)
		}
	})
}
