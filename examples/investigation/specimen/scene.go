package specimen

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
)

// scene is an investigation while it is told.
type scene struct {
	name string
	core graph
	jobs jobList
}

type graph struct {
	Contract string `json:"contract"`
	Origin   string `json:"origin"`
	Revision int    `json:"revision"`
	Nodes    []node `json:"nodes"`
	Edges    []edge `json:"edges"`
}

type node struct {
	ID         string         `json:"id"`
	ObjectKind string         `json:"object_kind"`
	Type       string         `json:"type"`
	Label      string         `json:"label"`
	State      string         `json:"state"`
	Group      string         `json:"group"`
	Details    map[string]any `json:"details"`
}

type edge struct {
	ID       string `json:"id"`
	Source   string `json:"source"`
	Target   string `json:"target"`
	Kind     string `json:"kind"`
	Directed bool   `json:"directed"`
}

type jobList struct {
	Contract string `json:"contract"`
	Jobs     []job  `json:"jobs"`
}

type job struct {
	JobID        string         `json:"job_id"`
	CapabilityID string         `json:"capability_id"`
	State        string         `json:"state"`
	CreatedAt    string         `json:"created_at"`
	Details      map[string]any `json:"details"`
}

// The kinds of objects.
const (
	entity      = "entity"
	evidence    = "evidence"
	observation = "observation"
	execution   = "execution"
	extraction  = "extraction"
)

// The kinds of edges.
const (
	business      = "business"
	support       = "support"
	contradiction = "contradiction"
	provenance    = "provenance"
)

func newScene(name string, revision int) *scene {
	return &scene{
		name: name,
		core: graph{Contract: "labfy.web_graph.snapshot.v3", Origin: "core", Revision: revision, Nodes: []node{}, Edges: []edge{}},
		jobs: jobList{Contract: "labfy.local_jobs.snapshot.v1", Jobs: []job{}},
	}
}

// add tells of an object and returns its id, which follows from its kind and label.
func (s *scene) add(n node) string {
	n.ID = n.ObjectKind + ":" + uuid(s.name, n.ObjectKind, n.Label)
	s.core.Nodes = append(s.core.Nodes, n)
	return n.ID
}

// link tells of an edge that leads from source to each target.
func (s *scene) link(kind, source string, targets ...string) {
	for _, target := range targets {
		s.core.Edges = append(s.core.Edges, edge{
			ID:     "edge:" + uuid(s.name, kind, source, target),
			Source: source, Target: target, Kind: kind, Directed: kind != contradiction,
		})
	}
}

// work tells of a job.
func (s *scene) work(capability, state, createdAt string, details map[string]any) {
	s.jobs.Jobs = append(s.jobs.Jobs, job{
		JobID:        uuid(s.name, "job", strconv.Itoa(len(s.jobs.Jobs))),
		CapabilityID: capability, State: state, CreatedAt: createdAt, Details: details,
	})
}

func (s *scene) workspace() Workspace {
	return Workspace{Core: document(s.core), Jobs: document(s.jobs)}
}

// uuid is a UUID of version 5 that follows from names.
func uuid(names ...string) string {
	hash := sha1.New()
	for _, name := range names {
		hash.Write([]byte(strconv.Itoa(len(name)) + ":" + name)) // a hash takes everything
	}
	id := hash.Sum(nil)[:16]
	id[6], id[8] = id[6]&0x0f|0x50, id[8]&0x3f|0x80
	text := hex.EncodeToString(id)
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}
