package fastreact

import (
	"net/http"
	"slices"
	"time"

	"github.com/fastreact/fastreact/host/internal/web"
	"github.com/fastreact/fastreact/sdk"
)

// ReadyReport is what the service leans on and how it is. Texts in it are safe to show.
type ReadyReport struct {
	Agent    bool // an agent can be driven
	Model    ModelReport
	Servers  []sdk.SourceStatus // MCP servers
	Tools    []string           // registered names of MCP tools
	Store    StoreReport
	Plugins  []PluginReport
	Compiled bool // every plugin is loaded and works

	Generation GenerationReport
}

// GenerationReport says which set of plugins serves, and why it is not the one that somebody wanted last.
type GenerationReport struct {
	Number    int
	Since     time.Time
	Degraded  time.Time // since when reloads fail; zero: the last one did not
	LastError string
}

// ModelReport says whether a model is configured.
type ModelReport struct {
	Name      string
	BaseSet   bool
	APIKeySet bool
}

// StoreReport is the health of the ledger.
type StoreReport struct {
	Driver    string
	Ready     bool
	LastError string
	Nodes     []NodeReport // that are alive, by name
}

// NodeReport is one process that shares the store.
type NodeReport struct {
	Name        string // for people; several may have the same
	Incarnation string // that no other process ever had
	Since       time.Time
	Seen        time.Time
	Runs        int  // that it drives
	Self        bool // it is the one that answers
}

// PluginReport is the health of one plugin.
type PluginReport struct {
	Name       string
	Kind       string
	Digest     string
	Generation int
	State      string
	LastError  string
}

type healthBody struct {
	Status     string `json:"status"`
	AgentReady bool   `json:"agent_ready"`
	Contract   string `json:"service_contract"`
	Version    string `json:"version"`
	Timestamp  string `json:"timestamp"`
}

// health says that the process lives. It asks nobody and builds nothing.
func (f *face) health(x *web.Exchange) error {
	ready := f.cfg.AgentReady == nil || f.cfg.AgentReady()
	return x.JSON(http.StatusOK, healthBody{"healthy", ready, Schema, f.cfg.Version, stamp(time.Now())})
}

type readyBody struct {
	Status      string           `json:"status"`
	AgentReady  bool             `json:"agent_ready"`
	Contract    string           `json:"service_contract"`
	Auth        readyAuth        `json:"auth"`
	Model       readyModel       `json:"model"`
	Multitenant readyTenants     `json:"multitenant"`
	MCP         readyMCP         `json:"mcp"`
	Store       readyStore       `json:"store"`
	Plugins     []readyPlugin    `json:"plugins"`
	Generation  *readyGeneration `json:"generation,omitempty"`
	Timestamp   string           `json:"timestamp"`
}

type readyAuth struct {
	Required  bool   `json:"required"`
	Mode      string `json:"mode"`
	Header    string `json:"header"`
	Alternate string `json:"alternate_header"`
}

type readyModel struct {
	Name      string `json:"name"`
	BaseSet   bool   `json:"api_base_configured"`
	APIKeySet bool   `json:"api_key_configured"`
}

// readyTenants says whether callers prove which tenant they belong to. Tenants are kept apart in any case.
type readyTenants struct {
	Enabled bool `json:"enabled"`
}

func (f *face) bringsTenants() bool {
	return f.cfg.AuthMode == web.AuthJWT || f.cfg.AuthMode == web.AuthTrustedHeaders
}

type readyMCP struct {
	Ready   bool          `json:"ready"`
	Servers []readyServer `json:"servers"`
	Tools   []string      `json:"tools"`
}

type readyServer struct {
	Name        string   `json:"name"`
	Alive       bool     `json:"alive"`
	Transport   string   `json:"transport"`
	Isolation   string   `json:"isolation"`
	Loaded      bool     `json:"loaded"`
	ToolCount   int      `json:"tool_count"`
	LastError   *string  `json:"last_error"`
	Quarantined []string `json:"quarantined"`
}

type readyStore struct {
	Driver    string  `json:"driver"`
	Ready     bool    `json:"ready"`
	LastError *string `json:"last_error"`

	Nodes    []readyNode `json:"nodes"`
	SameName bool        `json:"same_name"` // two nodes that are alive share a name
}

type readyNode struct {
	Name        string `json:"name"`
	Incarnation string `json:"incarnation"`
	Since       string `json:"since"`
	Seen        string `json:"seen"`
	Runs        int    `json:"runs"`
	Self        bool   `json:"self"`
}

func toReadyStore(s StoreReport) readyStore {
	wire := readyStore{Driver: s.Driver, Ready: s.Ready, LastError: orNull(s.LastError), Nodes: []readyNode{}}
	names := map[string]bool{}
	for _, n := range s.Nodes {
		wire.SameName = wire.SameName || names[n.Name]
		names[n.Name] = true
		wire.Nodes = append(wire.Nodes, readyNode{n.Name, n.Incarnation, stamp(n.Since), stamp(n.Seen), n.Runs, n.Self})
	}
	return wire
}

type readyPlugin struct {
	Name       string  `json:"name"`
	Kind       string  `json:"kind"`
	Digest     string  `json:"digest"`
	Generation int     `json:"generation,omitempty"`
	State      string  `json:"state"`
	LastError  *string `json:"last_error"`
}

type readyGeneration struct {
	Number        int     `json:"number"`
	Since         string  `json:"since"`
	State         string  `json:"state"`
	LastError     *string `json:"last_error"`
	DegradedSince *string `json:"degraded_since"`
}

func toReadyGeneration(g GenerationReport) *readyGeneration {
	if g.Number == 0 {
		return nil
	}
	wire := &readyGeneration{Number: g.Number, Since: stamp(g.Since), State: "ready"}
	if !g.Degraded.IsZero() {
		wire.State, wire.LastError, wire.DegradedSince = "degraded", orNull(g.LastError), orNull(stamp(g.Degraded))
	}
	return wire
}

// ready answers 200 whatever it finds: the status is in the body.
func (f *face) ready(x *web.Exchange) error {
	report := f.cfg.Inspector.Ready(x.Request.Context())
	current := report.Generation.Degraded.IsZero()
	if !x.Caller.SpeaksForAnyone() && x.Caller.Standing != web.Operator {
		report = report.withoutDetails()
	}
	body := readyBody{
		Status: "degraded", AgentReady: report.Agent, Contract: Schema, Auth: f.readyAuth(),
		Model:       readyModel{report.Model.Name, report.Model.BaseSet, report.Model.APIKeySet},
		Multitenant: readyTenants{f.bringsTenants()}, MCP: toReadyMCP(report),
		Store:   toReadyStore(report.Store),
		Plugins: []readyPlugin{}, Generation: toReadyGeneration(report.Generation), Timestamp: stamp(time.Now()),
	}
	for _, p := range report.Plugins {
		body.Plugins = append(body.Plugins,
			readyPlugin{p.Name, p.Kind, p.Digest, p.Generation, p.State, orNull(p.LastError)})
	}
	if report.Agent && report.Compiled && current && report.Store.Ready && body.MCP.Ready {
		body.Status = "ready"
	}
	return x.JSON(http.StatusOK, body)
}

// withoutDetails leaves out what is the operators' business: errors, nodes, and everything about plugins but the status.
func (r ReadyReport) withoutDetails() ReadyReport {
	r.Plugins, r.Store.LastError, r.Store.Nodes, r.Generation = nil, "", nil, GenerationReport{}
	r.Servers = slices.Clone(r.Servers)
	for i := range r.Servers {
		r.Servers[i].LastError, r.Servers[i].Quarantined = "", nil
	}
	return r
}

func (f *face) readyAuth() readyAuth {
	mode := f.cfg.AuthMode
	if mode == "" {
		mode = web.AuthNone
	}
	if mode == web.AuthNone && f.cfg.AuthRequired {
		mode = web.AuthServiceToken
	}
	return readyAuth{f.cfg.AuthRequired, string(mode), web.TokenHeader, "Authorization: Bearer"}
}

// toReadyMCP is ready when at least one server is configured and every one of them works.
func toReadyMCP(report ReadyReport) readyMCP {
	wire := readyMCP{Ready: len(report.Servers) > 0, Servers: []readyServer{}, Tools: orEmpty(report.Tools)}
	for _, s := range report.Servers {
		wire.Ready = wire.Ready && s.Alive && s.Loaded
		wire.Servers = append(wire.Servers, readyServer{
			s.Name, s.Alive, s.Transport, s.Isolation, s.Loaded, s.ToolCount, orNull(s.LastError), orEmpty(s.Quarantined),
		})
	}
	return wire
}
