package investigation

import (
	"encoding/json"
	"strings"

	"github.com/fastreact/fastreact/sdk/wire"
)

// search finds the objects one of whose texts contains what is looked for, in whatever case, in the snapshot's order.
func search(f folder, args json.RawMessage) ([]byte, error) {
	query, err := argument(args, "query", isQuery)
	if err != nil {
		return nil, err
	}
	g, err := loadGraph(f)
	if err != nil {
		return nil, err
	}
	wanted := strings.ToLower(strings.TrimSpace(query))
	var found []node
	for _, n := range g.nodes {
		if n.contains(wanted) {
			found = append(found, n)
		}
	}
	shown := found[:min(len(found), maxMatches)]
	w := wire.NewWriter(1 << 10)
	w.Raw("matches", matches(shown))
	w.Raw("object_refs", refs(shown))
	return g.end(w, len(shown) < len(found))
}

// contains reports whether a text or number of the object contains what is wanted, in small letters.
func (n node) contains(wanted string) bool {
	found := false
	for _, value := range n.values {
		if value == nil {
			continue
		}
		eachText(value, func(_, text string) bool {
			found = strings.Contains(strings.ToLower(text), wanted)
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

func matches(nodes []node) []byte {
	out := []byte{'['}
	for i, n := range nodes {
		if i > 0 {
			out = append(out, ',')
		}
		out = wire.AppendText(append(out, `{"object_id":`...), n.id)
		out = wire.AppendText(append(out, `,"label":`...), n.text("label"))
		out = append(out, '}')
	}
	return append(out, ']')
}

// refs lists objects as references.
func refs(nodes []node) []byte {
	out := []byte{'['}
	for i, n := range nodes {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(wire.AppendText(append(out, `{"object_id":`...), n.id), '}')
	}
	return append(out, ']')
}

// end writes what every answer about the graph ends with.
func (g *graph) end(w *wire.Writer, truncated bool) ([]byte, error) {
	w.Whole("revision", g.revision)
	w.BoolIfSo("truncated", truncated)
	return w.End()
}
