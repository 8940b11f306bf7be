package host

import (
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
	"github.com/fastreact/fastreact/host/internal/localagent"
	local "github.com/fastreact/fastreact/host/internal/localagent/loopback"
	"github.com/fastreact/fastreact/host/internal/research"
)

// AgentToolsConfig sets up the agent tools: a page and a small API on an address of their own, for the person at this
// machine. Without an address nothing of it is there.
type AgentToolsConfig struct {
	Addr       string            `key:"addr" default:"" about:"Address to listen on, host:port, reachable from this machine only, such as 127.0.0.1:18742; empty means that there are no agent tools."`
	Authority  string            `key:"authority" default:"" about:"Host header that is served, host:port; empty means the bound address."`
	Workspaces map[string]string `key:"workspaces" about:"Folders with snapshots by the id of their workspace: letters a to z, digits, hyphens and underscores."`
	Active     string            `key:"active" default:"" about:"Workspace that is active at first; empty means the only one, or none where there are several."`

	Mode         string        `key:"mode" default:"" enum:"|deterministic-demo|local-model" about:"Who drives turns of the agent runtime; empty means local-model with an endpoint, deterministic-demo without."`
	Endpoint     string        `key:"endpoint" default:"" about:"Server of the local model, http://127.0.0.1:<port> or http://[::1]:<port>; it speaks as OpenAI does."`
	Model        string        `key:"model" default:"" about:"Name of the local model."`
	ModelTimeout time.Duration `key:"model_timeout" default:"30s" min:"10ms" max:"1h" about:"How long the local model may take for one answer."`

	Providers []ProviderConfig `key:"providers" about:"Whom a campaign may ask once a person has granted it, in their order; without one nobody is ever contacted."`

	SessionTTL       time.Duration    `key:"session_ttl" default:"1h" min:"1s" max:"24h" about:"How long the page's session lives."`
	GrantTTL         time.Duration    `key:"grant_ttl" default:"1h" min:"1s" max:"1h" about:"How long a person's grant lives."`
	MutationInterval time.Duration    `key:"mutation_interval" default:"30ms" min:"1ms" max:"1m" about:"Time between two requests that change something; earlier ones get 429."`
	BodyTimeout      time.Duration    `key:"body_timeout" default:"30s" min:"10ms" max:"5m" about:"How long a request body may take."`
	CallTimeout      time.Duration    `key:"call_timeout" default:"1m" min:"10ms" max:"1h" about:"How long one call of a tool may take, whoever waits for it; tools.timeout bounds it too."`
	Limits           AgentToolsLimits `key:"limits" about:"Bounds of what is kept in memory, and of one turn. They can be lowered only."`
}

// AgentToolsLimits bounds the agent tools. Every one is above zero and at most what the protocol says.
type AgentToolsLimits struct {
	Calls       int   `key:"calls" default:"64" min:"1" max:"64" about:"Calls and their results that are kept; the oldest goes."`
	ResultBytes int   `key:"result_bytes" default:"262144" min:"1024" max:"262144" about:"Size of one result; larger ones get 413."`
	Events      int   `key:"events" default:"128" min:"1" max:"128" about:"Events that are kept, of calls and of the runtime each; the oldest goes."`
	Turns       int   `key:"turns" default:"32" min:"1" max:"32" about:"Turns that are kept, of the demo agent and of the runtime each; the oldest goes."`
	BodyBytes   int64 `key:"body_bytes" default:"4096" min:"1" max:"4096" about:"Largest request body; larger ones get 413."`

	Queue         int `key:"queue" default:"8" min:"1" max:"8" about:"Turns of the runtime that may wait; more get 429."`
	ModelCalls    int `key:"model_calls" default:"8" min:"1" max:"8" about:"Answers of the model in one turn."`
	ToolCalls     int `key:"tool_calls" default:"8" min:"1" max:"8" about:"Tool calls of one turn of the runtime."`
	RequestBytes  int `key:"request_bytes" default:"131072" min:"1024" max:"131072" about:"Largest request to the model."`
	ResponseBytes int `key:"response_bytes" default:"262144" min:"1024" max:"262144" about:"Largest answer of the model."`

	Grants    int `key:"grants" default:"64" min:"1" max:"64" about:"Grants under one plan."`
	Campaigns int `key:"campaigns" default:"64" min:"1" max:"64" about:"Campaigns under one plan."`
}

// ProviderConfig is somebody who may be asked within a granted campaign.
type ProviderConfig struct {
	ID        string   `key:"id" default:"" about:"Name of the provider, as a plan shows it."`
	URL       string   `key:"url" default:"" about:"Address that is asked with GET, such as https://archive.example/lookup."`
	Addresses []string `key:"addresses" about:"Address ranges that the host of url may have though they are not public, such as 10.1.2.0/24; an address or localhost in url names itself."`
}

// maxProviders is how many providers there may be.
const maxProviders = 8

var workspaceID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// wanted reports whether there are agent tools at all.
func (a AgentToolsConfig) wanted() bool { return a.Addr != "" }

// runtimeMode says who drives turns of the runtime.
func (a AgentToolsConfig) runtimeMode() localagent.Mode {
	switch {
	case a.Mode != "":
		return localagent.Mode(a.Mode)
	case a.Endpoint != "":
		return localagent.LocalModel
	}
	return localagent.Demo
}

// localModel is the client of the local model, which contacts nobody yet.
func (a AgentToolsConfig) localModel() (*local.Client, error) {
	return local.New(local.Config{
		Endpoint: a.Endpoint, Model: a.Model, Timeout: a.ModelTimeout,
		MaxRequest: a.Limits.RequestBytes, MaxResponse: a.Limits.ResponseBytes,
	})
}

// listeners lists the addresses on which the service will listen.
func (c Config) listeners() []string {
	if c.AgentTools.wanted() {
		return []string{c.Server.Addr, c.AgentTools.Addr}
	}
	return []string{c.Server.Addr}
}

// firstWorkspace is the workspace that is active at first; empty when there is none.
func (a AgentToolsConfig) firstWorkspace() string {
	if a.Active == "" && len(a.Workspaces) == 1 {
		return sortedKeys(a.Workspaces)[0]
	}
	return a.Active
}

func (c Config) validateAgentTools(report reporter) {
	tools, path := c.AgentTools, "agent_tools"
	if tools.wanted() {
		c.validateToolsAddr(report)
	}
	if tools.Authority != "" {
		if problem := boundAuthorityProblem(tools.Authority); problem != "" {
			report(path+".authority", problem, "use a form like tools.localhost:18742")
		}
	}
	tools.validateWorkspaces(path, report)
	c.validateEndpoint(path+".endpoint", report)
	tools.validateRuntime(path, report)
	tools.validateProviders(path+".providers", report)
}

func (c Config) validateToolsAddr(report reporter) {
	const path, hint = "agent_tools.addr", "use a form like 127.0.0.1:18742"
	addr := c.AgentTools.Addr
	switch problem := addrProblem(addr); {
	case problem != "":
		report(path, problem, hint)
	case !loopback(addr):
		report(path, "can be reached from other machines", hint)
	case samePort(addr, c.Server.Addr):
		report(path, "is the port of server.addr", "give the agent tools a port of their own")
	}
}

// samePort reports whether two addresses ask for one port. Port 0 is any free one.
func samePort(one, other string) bool {
	_, first, err := net.SplitHostPort(one)
	_, second, otherErr := net.SplitHostPort(other)
	if err != nil || otherErr != nil {
		return false
	}
	a, _ := strconv.Atoi(first)
	b, _ := strconv.Atoi(second)
	return a == b && a != 0
}

// boundAuthorityProblem says what is wrong with a Host header that is compared byte for byte.
func boundAuthorityProblem(authority string) string {
	if problem := authorityProblem(authority); problem != "" {
		return problem
	}
	if _, port, err := net.SplitHostPort(authority); err != nil || port == "" {
		return "names no port"
	}
	return ""
}

func (a AgentToolsConfig) validateWorkspaces(path string, report reporter) {
	for _, id := range sortedKeys(a.Workspaces) {
		at := join(path+".workspaces", id)
		switch problem := folderProblem(a.Workspaces[id]); {
		case !workspaceID.MatchString(id):
			report(at, "is not an id of a workspace", "use letters a to z, digits, hyphens and underscores, at most 64")
		case a.wanted() && problem != "":
			report(at, problem, relativeHint)
		}
	}
	if _, known := a.Workspaces[a.Active]; a.Active != "" && !known {
		report(path+".active", "is not one of agent_tools.workspaces", "add it there, or name one that is there")
	}
}

func folderProblem(path string) string {
	if strings.TrimSpace(path) == "" {
		return "names no folder"
	}
	switch about, err := os.Stat(path); {
	case err != nil:
		return "cannot be read: " + err.Error()
	case !about.IsDir():
		return "is not a folder"
	}
	return ""
}

func (c Config) validateEndpoint(path string, report reporter) {
	const hint = "use a form like http://127.0.0.1:8080 or http://[::1]:8080"
	endpoint := c.AgentTools.Endpoint
	switch at := strings.TrimSuffix(strings.TrimPrefix(endpoint, "http://"), "/"); {
	case endpoint == "":
	case local.Check(endpoint) != nil:
		report(path, "is not the address of a model on this machine", hint)
	case samePort(at, c.Server.Addr) || samePort(at, c.AgentTools.Addr):
		report(path, "is an address of this service", "name the server of the local model")
	}
}

func (a AgentToolsConfig) validateRuntime(path string, report reporter) {
	switch asked := a.runtimeMode() == localagent.LocalModel; {
	case asked && a.Endpoint == "":
		report(path+".endpoint", "is missing", "name the server of the local model, such as http://127.0.0.1:8080")
	case asked && strings.TrimSpace(a.Model) == "":
		report(path+".model", "is missing", "name the model that the server of agent_tools.endpoint knows")
	case !asked && a.Endpoint != "":
		report(path+".endpoint", "has no meaning in mode "+string(localagent.Demo), "remove it, or use mode: "+string(localagent.LocalModel))
	case !asked && a.Model != "":
		report(path+".model", "has no meaning in mode "+string(localagent.Demo), "remove it, or name an endpoint")
	}
}

func (a AgentToolsConfig) validateProviders(path string, report reporter) {
	if len(a.Providers) > maxProviders {
		report(path, "are too many", "keep at most "+strconv.Itoa(maxProviders))
	}
	seen := map[string]bool{}
	for i, provider := range a.Providers {
		at := element(path, i)
		switch {
		case !workspaceID.MatchString(provider.ID) || provider.ID == research.NoProvider:
			report(at+".id", "is not an id of a provider", "use letters a to z, digits, hyphens and underscores, at most 64, and not the word none")
		case seen[provider.ID]:
			report(at+".id", "two providers have this id", "give each its own")
		}
		seen[provider.ID] = true
		if problem := urlProblem(provider.URL); problem != "" {
			report(at+".url", problem, "use a form like https://archive.example/lookup")
		} else if _, err := egress.Endpoint(provider.URL, provider.Addresses); err != nil {
			report(at+".url", "is not written as it is compared, or addresses hold no ranges: "+err.Error(),
				"use a form like https://archive.example/lookup, and ranges like 10.1.2.0/24")
		}
	}
}
