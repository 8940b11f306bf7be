package investigation

import (
	"encoding/json"
	"slices"

	"github.com/fastreact/fastreact/sdk/wire"
)

// about makes a reading of something that is told about one object.
func about(tell func(g *graph, n node) ([]byte, error)) reading {
	return func(f folder, args json.RawMessage) ([]byte, error) {
		id, err := argument(args, "object_id", isObjectID)
		if err != nil {
			return nil, err
		}
		g, err := loadGraph(f)
		if err != nil {
			return nil, err
		}
		n, err := g.find(id)
		if err != nil {
			return nil, err
		}
		return tell(g, n)
	}
}

// whole tells everything that stands in the object itself.
func whole(g *graph, n node) ([]byte, error) {
	object, err := n.object()
	if err != nil {
		return nil, err
	}
	w := wire.NewWriter(len(object) + 256)
	w.Raw("node", object)
	w.Raw("object_refs", refs([]node{n}))
	return g.end(w, false)
}

// summary tells what the object is called and of what type it is.
func summary(g *graph, n node) ([]byte, error) {
	s := wire.NewWriter(256)
	s.Text("id", n.id)
	s.Text("label", n.text("label"))
	s.Text("type", n.text("type"))
	object, err := s.End()
	if err != nil {
		return nil, err
	}
	w := wire.NewWriter(512)
	w.Raw("summary", object)
	w.Raw("object_refs", refs([]node{n}))
	return g.end(w, false)
}

// neighbours tells the edges of the object, and the objects at their other ends. Of an edge that leads nowhere the edge
// is told and no object.
func neighbours(g *graph, n node) ([]byte, error) {
	list, count := []byte{'['}, 0
	for _, e := range g.edges {
		if _, touches := e.from(n); !touches {
			continue
		}
		if count++; count > maxLinks {
			continue
		}
		object, err := e.object()
		if err != nil {
			return nil, err
		}
		if count > 1 {
			list = append(list, ',')
		}
		list = append(list, object...)
	}
	near := g.others(n, func(edge) bool { return true })
	shown := near[:min(len(near), maxLinks)]
	w := wire.NewWriter(4 << 10)
	w.Raw("edges", append(list, ']'))
	w.Raw("object_refs", refs(shown))
	return g.end(w, count > maxLinks || len(shown) < len(near))
}

// origins tells what the object rests on: the objects that provenance links to it, then those that support it, then
// those that contradict it. Business between two objects says nothing of where they come from.
func origins(g *graph, n node) ([]byte, error) {
	var all []node
	for _, kind := range []string{"provenance", "support", "contradiction"} {
		for _, other := range g.others(n, func(e edge) bool { return e.text("kind") == kind }) {
			if !slices.ContainsFunc(all, func(known node) bool { return known.id == other.id }) {
				all = append(all, other)
			}
		}
	}
	shown := all[:min(len(all), maxLinks)]
	w := wire.NewWriter(1 << 10)
	w.Raw("object_refs", refs([]node{n}))
	w.Raw("provenance_refs", refs(shown))
	return g.end(w, len(shown) < len(all))
}
