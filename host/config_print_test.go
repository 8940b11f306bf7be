package host

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestPrintedConfigurationSaysWhereEachValueComesFrom(t *testing.T) {
	loaded := load(t, LoadOptions{
		Path:      file(t, exampleYAML),
		Getenv:    env{"FASTREACT_MODEL_NAME": "from-env", "FASTREACT_SERVICE_TOKEN": "canary-token", "DOCS_TOKEN": "canary-docs"}.get,
		Overrides: map[string]string{"server.addr": "127.0.0.1:0"},
	})
	printed := printOf(t, loaded)
	for _, want := range []string{
		"addr: 127.0.0.1:0 # flag",
		"name: from-env # environment",
		"service_token_env: FASTREACT_SERVICE_TOKEN # default; set, [redacted]",
		"mode: service_token # environment",
		"keepalive: 5s # file",
		"shutdown_grace: 20s # default",
		"API_HOST: '[redacted]' # file",
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("printed configuration lacks %q:\n%s", want, printed)
		}
	}
}

func TestPrintedConfigurationHoldsNoSecret(t *testing.T) {
	loaded := load(t, LoadOptions{
		Path:   file(t, exampleYAML),
		Getenv: env{"FASTREACT_SERVICE_TOKEN": "canary-token", "FASTREACT_MODEL_API_KEY": "canary-key", "DOCS_TOKEN": "canary-docs"}.get,
	})
	var asJSON bytes.Buffer
	if err := loaded.PrintJSON(&asJSON); err != nil {
		t.Fatal(err)
	}
	if whole := printOf(t, loaded) + asJSON.String(); strings.Contains(whole, "canary") {
		t.Errorf("a secret was printed:\n%s", whole)
	}
}

func TestPrintedConfigurationLoadsAgain(t *testing.T) {
	getenv := env{"DOCS_TOKEN": "x"}.get
	first := load(t, LoadOptions{Path: file(t, exampleYAML), Getenv: getenv})
	second := load(t, LoadOptions{Path: file(t, printOf(t, first)), Getenv: getenv})
	second.Config.MCP.Servers[0].Env = first.Config.MCP.Servers[0].Env // redacted when printed
	second.Config.MCP.Servers[0].Environment = first.Config.MCP.Servers[0].Environment
	if diff := cmp.Diff(first.Config, second.Config, sameTree, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("printed and loaded again (-first +second):\n%s", diff)
	}
}

func printOf(t *testing.T, loaded *Loaded) string {
	t.Helper()
	var out bytes.Buffer
	if err := loaded.Print(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
