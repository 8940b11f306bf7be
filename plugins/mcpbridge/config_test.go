package mcpbridge

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryProblemOfTheConfigIsReportedAtOnce(t *testing.T) {
	_, err := New(Config{Withheld: []string{"canary-token"}, Servers: []Server{
		{Name: "twice", Command: "x"},
		{Name: "twice", Command: "x"},
		{Name: "white space", Command: "x"},
		{Name: "none"},
		{Name: "odd", Transport: "pigeon"},
		{Name: "file", URL: "file:///etc/passwd"},
		{Name: "iso", Command: "x", Isolation: "some"},
		{Name: "env", Command: "x", Env: Secrets{"FASTREACT_SERVICE_TOKEN": "a"}},
		{Name: "leak", URL: "http://127.0.0.1/", Headers: Secrets{"Authorization": "Bearer canary-token"}},
	}})
	want := strings.Join([]string{
		`mcp.servers[1].name: "twice" is taken by another server`,
		`mcp.servers[2].name: "white space" must be 1 to 64 letters, digits, dots, dashes or underscores`,
		`mcp.servers[3].command: a stdio server needs one`,
		`mcp.servers[4].transport: "pigeon" is neither stdio nor http`,
		`mcp.servers[5].url: must be an http or https address`,
		`mcp.servers[6].isolation: "some" is neither shared nor per_user`,
		`mcp.servers[7].env.FASTREACT_SERVICE_TOKEN: secrets of this service are not given to MCP servers`,
		`mcp.servers[8].env: a secret of this service stands in the configuration of this server`,
	}, "\n")
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Error(diff)
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	spec := Server{Headers: Secrets{"Authorization": "canary"}, Env: Secrets{"KEY": "canary"}}
	encoded, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	printed := fmt.Sprintf("%v %+v %#v %s", spec, spec, spec, encoded)
	if strings.Contains(printed, "canary") {
		t.Errorf("printed %s", printed)
	}
}

func TestChildSeesOnlyPlainVariablesAndItsOwn(t *testing.T) {
	own := []string{"PATH=/bin", "HOME=/root", "FASTREACT_SERVICE_TOKEN=canary", "AWS_SECRET=canary", "LANG=C"}
	got := childEnv(own, Secrets{"LANG": "de", "MINE": "1"})
	if diff := cmp.Diff([]string{"PATH=/bin", "HOME=/root", "LANG=de", "MINE=1"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestEndpointChangesWithThePlaceAndHoldsNoSecret(t *testing.T) {
	base := Server{Transport: transportHTTP, URL: "https://user:secret@host/mcp?key=secret", Headers: Secrets{"A": "1"}}
	sameKey, elsewhere := base, base
	sameKey.Headers, sameKey.URL = Secrets{"A": "2"}, "https://host/mcp"
	elsewhere.URL = "https://other/mcp"
	if base.endpoint() != sameKey.endpoint() {
		t.Error("a secret is part of the endpoint")
	}
	if base.endpoint() == elsewhere.endpoint() {
		t.Error("another host has the same endpoint")
	}
}
