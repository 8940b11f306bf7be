package host

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestTheNodesOfTheComposeFileServeTheAddressesTheyArePublishedAt compares the Host headers that deploy/fastreact.yaml
// lets in with the ports that deploy/compose.yaml publishes: those are not the port that a node itself listens on.
func TestTheNodesOfTheComposeFileServeTheAddressesTheyArePublishedAt(t *testing.T) {
	served := load(t, LoadOptions{
		Path: "../deploy/fastreact.yaml",
		Getenv: env{
			"FASTREACT_SERVICE_TOKEN": "canary-of-the-service", "FASTREACT_ADMIN_TOKEN": "canary-of-its-keeper",
			"FASTREACT_POSTGRES_DSN": "postgres://fastreact:canary@postgres:5432/fastreact?sslmode=disable",
		}.get,
	}).Config.Server.Authorities
	raw, err := os.ReadFile("../deploy/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Services map[string]struct{ Ports []string }
	}
	if err := yaml.Unmarshal(raw, &compose); err != nil {
		t.Fatal(err)
	}
	published := 0
	for name, service := range compose.Services {
		for _, mapping := range service.Ports {
			published++
			if host, _, _ := strings.Cut(mapping, ":"); !slices.Contains(served, host) || !slices.Contains(served, "localhost") {
				t.Errorf("%s is published at %s and serves %q", name, mapping, served)
			}
		}
	}
	if published != 2 {
		t.Errorf("%d ports are published, not those of two nodes", published)
	}
}
