package investigation

import (
	"strings"

	"github.com/fastreact/fastreact/sdk/wire"
)

// graph is a snapshot of the investigation: its objects, and what links them.
type graph struct {
	revision int
	nodes    []node
	edges    []edge
	place    map[string]int // of a node, by its id in small letters
}

// node is an object of the graph.
type node struct {
	id string
	record
}

// edge is a link between two objects, of which either may be missing.
type edge struct {
	source, target string // ids, as they are written
	record
}

// loadGraph reads the core snapshot.
func loadGraph(f folder) (*graph, error) {
	text, err := f.read(coreName, maxCoreBytes)
	if err != nil {
		return nil, err
	}
	return parseGraph(text)
}

// parseGraph reads a text that checkText has passed.
func parseGraph(text []byte) (*graph, error) {
	r := wire.NewReader(text)
	top := readRecord(r, []member{
		{"contract", wire.Text}, {"revision", wire.Number}, {"nodes", wire.List}, {"edges", wire.List},
	})
	if r.End() != nil || !isList(top.raw("nodes")) || !isVersion(top, ".v3") {
		return nil, snapshotInvalid
	}
	revision, ok := wholeNumber(top.raw("revision"))
	if !ok {
		return nil, snapshotInvalid
	}
	g := &graph{revision: revision, place: map[string]int{}}
	if err := g.readNodes(top.raw("nodes")); err != nil {
		return nil, err
	}
	return g, g.readEdges(top.raw("edges"))
}

// isList reports whether a member is there and is a list.
func isList(value []byte) bool { return wire.NewReader(value).Kind() == wire.List }

// isVersion reports whether a snapshot is of the version that is read here, if it says of which it is.
func isVersion(top record, version string) bool {
	return top.raw("contract") == nil || strings.HasSuffix(top.text("contract"), version)
}

func (g *graph) readNodes(list []byte) error {
	records, err := readRecords(list, maxNodes, []member{
		{"id", wire.Text},
		{"object_kind", wire.Text},
		{"type", wire.Text},
		{"label", wire.Text},
		{"state", wire.Text},
		{"group", wire.Text},
		{"details", wire.Nothing},
	})
	if err != nil {
		return err
	}
	for i, rec := range records {
		id := rec.text("id")
		if _, taken := g.place[fold(id)]; taken || !isObjectID(id) {
			return snapshotInvalid
		}
		g.place[fold(id)] = i
		g.nodes = append(g.nodes, node{id, rec})
	}
	return nil
}

func (g *graph) readEdges(list []byte) error {
	if list == nil {
		return nil
	}
	records, err := readRecords(list, maxEdges, []member{
		{"id", wire.Text}, {"source", wire.Text}, {"target", wire.Text}, {"kind", wire.Text}, {"directed", wire.Bool},
	})
	if err != nil {
		return err
	}
	for _, rec := range records {
		e := edge{rec.text("source"), rec.text("target"), rec}
		if e.source == "" || e.target == "" {
			return snapshotInvalid
		}
		g.edges = append(g.edges, e)
	}
	return nil
}

// readRecords reads a list of at most limit objects.
func readRecords(list []byte, limit int, form []member) ([]record, error) {
	r := wire.NewReader(list)
	var records []record
	count := 0
	for range r.Elements() {
		if count++; count > limit {
			r.Skip()
			continue
		}
		records = append(records, readRecord(r, form))
	}
	switch {
	case r.End() != nil:
		return nil, snapshotInvalid
	case count > limit:
		return nil, snapshotTooLarge
	}
	return records, nil
}

// find returns the node of an id. A UUID without a kind finds the node that ends in it, when there is exactly one.
func (g *graph) find(id string) (node, error) {
	id = fold(id)
	if at, known := g.place[id]; known {
		return g.nodes[at], nil
	}
	var found []node
	for _, n := range g.nodes {
		if strings.HasSuffix(fold(n.id), ":"+id) {
			found = append(found, n)
		}
	}
	if strings.Contains(id, ":") || len(found) != 1 {
		return node{}, objectUnknown
	}
	return found[0], nil
}

// others returns the nodes at the other ends of a node's edges that want, in the order of the edges, each once. An
// edge that leads nowhere leads to none.
func (g *graph) others(n node, want func(edge) bool) []node {
	seen := map[string]bool{fold(n.id): true}
	var all []node
	for _, e := range g.edges {
		end, touches := e.from(n)
		at, known := g.place[fold(end)]
		if !touches || !known || seen[fold(end)] || !want(e) {
			continue
		}
		seen[fold(end)] = true
		all = append(all, g.nodes[at])
	}
	return all
}

// from returns the other end of an edge that touches n.
func (e edge) from(n node) (end string, touches bool) {
	switch {
	case strings.EqualFold(e.source, n.id):
		return e.target, true
	case strings.EqualFold(e.target, n.id):
		return e.source, true
	}
	return "", false
}
