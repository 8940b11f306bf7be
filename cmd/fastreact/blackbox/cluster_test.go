package blackbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fastreact/fastreact/testdata/peers"
)

// postgresForAll is one PostgreSQL for the whole package, started by the first test that needs it.
type postgresForAll struct {
	mu     sync.Mutex
	server *peers.Postgres
}

var shared postgresForAll

// need returns the server, or ends the test where PostgreSQL is not installed.
func (p *postgresForAll) need(t *testing.T) *peers.Postgres {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		return p.server
	}
	server, err := peers.StartPostgres(peers.PostgresConfig{})
	if errors.Is(err, peers.ErrMissing) {
		peers.Missing(t, "PostgreSQL")
	}
	if err != nil {
		t.Fatal(err)
	}
	p.server = server
	return server
}

// stop ends the server, if any test needed one.
func (p *postgresForAll) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		_ = p.server.Stop()
	}
}

// cluster is some nodes of the service on one database, with one model and the same tools. A test runs its facts in
// subtests (fact), so that the nodes start once for all of them.
type cluster struct {
	t      *testing.T
	server *peers.Postgres
	base   string // the database
	folder string
	model  *scriptedModel
	nodes  []*service
}

// clusterConfig says how a cluster differs from two nodes that ask a person before pska_bump.
type clusterConfig struct {
	nodes   int                                // 0 is 2
	workers string                             // of the section workers, after the lease: ", background: 4"
	store   string                             // of the section store: ", max_connections: 4"
	more    string                             // further sections
	dsn     func(node int) string              // where a node finds the database; nil is at the server itself
	edit    func(node int, text string) string // changes a node's configuration
	env     []string
}

// lease is how long a silent node of a cluster keeps its runs.
const lease = "2s"

// startCluster makes an empty database and starts the nodes on it, all at once.
func startCluster(t *testing.T, model *scriptedModel, cfg clusterConfig) *cluster {
	t.Helper()
	server := shared.need(t)
	base, err := server.Database("")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, server: server, base: base, folder: t.TempDir(), model: model}
	for i := range cmp.Or(cfg.nodes, 2) {
		c.nodes = append(c.nodes, c.prepare(i, cfg))
	}
	var starting sync.WaitGroup
	for _, n := range c.nodes {
		starting.Go(n.begin)
	}
	starting.Wait()
	for _, n := range c.nodes {
		n.awaitHealth(n.exited)
	}
	return c
}

// prepare writes the configuration of one node.
func (c *cluster) prepare(i int, cfg clusterConfig) *service {
	c.t.Helper()
	dsn := c.server.DSN(c.base)
	if cfg.dsn != nil {
		dsn = cfg.dsn(i)
	}
	text := config(c.t, c.folder, c.model, cfg.more)
	text = strings.Replace(text, fmt.Sprintf("store: {path: %q}", filepath.Join(c.folder, "db", "f.db")),
		"store: {driver: postgres, dsn_env: BLACKBOX_DSN, auto_migrate: true"+cfg.store+"}", 1)
	text = strings.Replace(text, "env: {BLACKBOX_MCP_LOG: ", fmt.Sprintf("timeout: 60s, env: {BLACKBOX_MCP_DEEDS: %q, BLACKBOX_MCP_LOG: ", c.folder), 1)
	text += "workers: {lease: " + lease + cfg.workers + "}\ntools: {idempotent: [pska_safe]}\n"
	if !strings.Contains(text, "policy: {") {
		text += "policy: {tool_rules: {bump: require_approval}}\n"
	}
	if !strings.Contains(text, "approvals: {") {
		text += "approvals: {timeout: 120s}\n"
	}
	if cfg.edit != nil {
		text = cfg.edit(i, text)
	}
	file := filepath.Join(c.folder, fmt.Sprintf("node-%d.yaml", i+1))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	env := append([]string{"BLACKBOX_DSN=" + dsn}, cfg.env...)
	return &service{t: c.t, life: c.t, folder: c.folder, env: env, config: file}
}

// fact runs a subtest to which the cluster and its nodes belong meanwhile. Nodes that it leaves dead are started again.
func (c *cluster) fact(name string, prove func(t *testing.T)) {
	before := c.t
	own := func(t *testing.T) {
		c.t = t
		for _, n := range c.nodes {
			n.t = t
		}
	}
	before.Run(name, func(t *testing.T) {
		own(t)
		defer own(before)
		prove(t)
	})
	for _, n := range c.nodes {
		select {
		case <-n.exited:
			n.run()
		default:
		}
	}
}

// sql runs a statement in the database, behind everybody's back.
func (c *cluster) sql(statement string) string {
	c.t.Helper()
	out, err := c.server.SQL(c.base, statement)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// submit starts a background run at a node. The question is a plan, see planned.
func (c *cluster) submit(node int, id, question string, headers ...string) {
	c.t.Helper()
	body := ask(question, map[string]any{"metadata": map[string]any{"run_id": id}})
	if status, raw := c.nodes[node].request("POST", "/v1/runs", body, headers...); status != 200 {
		c.t.Fatalf("submit %s: %d %s", id, status, raw)
	}
}

// log reads a run's whole stream at a node: the frames as they stood on the wire.
func (c *cluster) log(node int, id string) []frame {
	c.t.Helper()
	return newFrames(c.t, c.nodes[node].open("GET", "/v1/runs/"+id+"/stream", nil).Body).rest()
}

// deed is a line of the oracle: what a tool did in the world, and cannot take back.
type deed struct{ Tool, ID, Key string }

// deeds reads the oracle: what the tools did under one id.
func (c *cluster) deeds(id string) []deed {
	c.t.Helper()
	raw, err := os.ReadFile(filepath.Join(c.folder, "deeds.log"))
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	var all []deed
	for line := range bytes.Lines(raw) {
		var one deed
		if err := json.Unmarshal(line, &one); err != nil {
			c.t.Fatalf("oracle line %q: %v", line, err)
		}
		if one.ID == id {
			all = append(all, one)
		}
	}
	return all
}

// hold makes calls with this id take effect and then not answer, until letGo.
func (c *cluster) hold(id string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.folder, "hold-"+id), nil, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// letGo makes calls with this id answer.
func (c *cluster) letGo(id string) {
	c.t.Helper()
	if err := os.Remove(filepath.Join(c.folder, "hold-"+id)); err != nil {
		c.t.Fatal(err)
	}
}
