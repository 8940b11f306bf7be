package contract

import (
	"fmt"
	"strings"
)

// Ids of the objects in the facts.
const (
	lamp  = "entity:0b8e6a52-6f0f-5d0c-9d6e-0f6f0d6b1c11"
	tower = "entity:1b8e6a52-6f0f-5d0c-9d6e-0f6f0d6b1c12"
	log   = "evidence:2b8e6a52-6f0f-5d0c-9d6e-0f6f0d6b1c13"
	night = "observation:3b8e6a52-6f0f-5d0c-9d6e-0f6f0d6b1c14"
	none  = "entity:9b8e6a52-6f0f-5d0c-9d6e-0f6f0d6b1c19"
)

// lighthouse is a small graph: log is the provenance of night, night supports lamp and is contradicted by nobody, lamp
// has business with tower and an edge that leads nowhere.
func lighthouse() string {
	return `{"contract":"labfy.web_graph.snapshot.v3","origin":"core","revision":4,"made_by":"somebody","nodes":[
 {"id":"` + lamp + `","object_kind":"entity","type":"thing","label":"L'Œil du phare","state":"LIT","group":null,"colour":"red",
  "details":{"oil": "whale", "hours":[21, 5.50], "keeper":{"name":"Anouk \u003cb\u003e"}, "on":true, "off":null}},
 {"id":"` + tower + `","object_kind":"entity","type":"place","label":"Tower","state":"DARK","group":"coast","details":{}},
 {"id":"` + log + `","object_kind":"evidence","type":"document","label":"Log of the night","state":"SEALED","details":{"pages":212}},
 {"id":"` + night + `","object_kind":"observation","type":"statement","label":"The LAMP went out","state":"OPEN"}
],"edges":[
 {"id":"e1","source":"` + lamp + `","target":"` + tower + `","kind":"business","directed":true,"width":2},
 {"id":"e2","source":"` + night + `","target":"` + lamp + `","kind":"support","directed":true},
 {"id":"e3","source":"` + night + `","target":"` + log + `","kind":"provenance","directed":true},
 {"id":"e4","source":"` + lamp + `","target":"` + none + `","kind":"provenance","directed":false},
 {"id":"e5","source":"` + lamp + `","target":"` + lamp + `","kind":"provenance"},
 {"id":"e6","source":"` + log + `","target":"` + lamp + `","kind":"provenance","directed":true}
]}`
}

func searching() []fact {
	empty := `{"matches":[],"object_refs":[],"revision":4}`
	one := func(id, label string) string {
		return `{"matches":[{"object_id":"` + id + `","label":"` + label + `"}],"object_refs":[{"object_id":"` + id + `"}],"revision":4}`
	}
	facts := []fact{
		{name: "a label is found in any case", args: `{"query":"the lamp"}`, want: one(night, "The LAMP went out")},
		{name: "letters beyond ASCII have two cases too", args: `{"query":"œIL"}`, want: one(lamp, "L'Œil du phare")},
		{name: "spaces around the query do not count", args: `{"query":"  tower\n"}`, want: one(tower, "Tower")},
		{name: "a state is found", args: `{"query":"sealed"}`, want: one(log, "Log of the night")},
		{name: "a group is found", args: `{"query":"coast"}`, want: one(tower, "Tower")},
		{name: "a type is found", args: `{"query":"document"}`, want: one(log, "Log of the night")},
		{name: "an id is found", args: `{"query":"1B8E6A52"}`, want: one(tower, "Tower")},
		{name: "a text deep in the details is found", args: `{"query":"anouk <b>"}`, want: one(lamp, "L'Œil du phare")},
		{name: "a number in the details is found", args: `{"query":"212"}`, want: one(log, "Log of the night")},
		{name: "the name of a detail is not its text", args: `{"query":"keeper"}`, want: empty},
		{name: "a member the contract does not know is not searched", args: `{"query":"red"}`, want: empty},
		{name: "texts are searched one by one", args: `{"query":"Tower DARK"}`, want: empty},
		{name: "no match is no match", args: `{"query":"whaleboat"}`, want: empty},
		{name: "a pattern is a text like any other", args: `{"query":".*"}`, want: empty},
		{
			name: "matches come in the order of the snapshot", args: `{"query":"entity:"}`,
			part: `"object_refs":[{"object_id":"` + lamp + `"},{"object_id":"` + tower + `"}],"revision":4}`,
		},
	}
	for i := range facts {
		facts[i].core, facts[i].tool = lighthouse(), "investigation_search"
	}
	return append(facts, fact{
		name: "the ninth match is left out, and that is said", core: copies(9, ""), tool: "investigation_search",
		args: `{"query":"copy"}`, part: `{"object_id":"` + copyID(7) + `"}],"revision":0,"truncated":true}`,
	}, fact{
		name: "eight matches are all", core: copies(8, ""), tool: "investigation_search",
		args: `{"query":"copy"}`, part: `{"object_id":"` + copyID(7) + `"}],"revision":0}`,
	})
}

// copies is a graph of n objects, and of the edges given.
func copies(n int, edges string) string {
	var nodes []string
	for i := range n {
		nodes = append(nodes, fmt.Sprintf(`{"id":%q,"label":"copy %d"}`, copyID(i), i))
	}
	return `{"nodes":[` + strings.Join(nodes, ",") + `],"edges":[` + edges + `]}`
}

func copyID(i int) string { return fmt.Sprintf("entity:00000000-0000-4000-8000-%012x", i) }

// star links the first copy with n others, the farthest first.
func star(n int, kind string) string {
	var edges []string
	for i := n; i > 0; i-- {
		edges = append(edges, fmt.Sprintf(`{"id":"e%d","source":%q,"target":%q,"kind":%q}`, i, copyID(0), copyID(i), kind))
	}
	return strings.Join(edges, ",")
}

func looking() []fact {
	ref := func(id string) string { return `"object_refs":[{"object_id":"` + id + `"}],"revision":4}` }
	at := func(id string) string { return `{"object_id":"` + id + `"}` }
	facts := []fact{
		{
			name: "an object is shown with what the contract knows of it", tool: "graph_get_node", args: at(lamp),
			want: `{"node":{"id":"` + lamp + `","object_kind":"entity","type":"thing","label":"L'Œil du phare","state":"LIT","group":null,` +
				`"details":{"oil":"whale","hours":[21,5.50],"keeper":{"name":"Anouk \u003cb\u003e"},"on":true,"off":null}},` + ref(lamp),
		},
		{
			name: "what an object does not have is not invented", tool: "graph_get_node", args: at(night),
			want: `{"node":{"id":"` + night + `","object_kind":"observation","type":"statement","label":"The LAMP went out","state":"OPEN"},` + ref(night),
		},
		{
			name: "an id is the same in capital letters", tool: "evidence_get_summary", args: at("entity:1B8E6A52-6F0F-5D0C-9D6E-0F6F0D6B1C12"),
			want: `{"summary":{"id":"` + tower + `","label":"Tower","type":"place"},` + ref(tower),
		},
		{
			name: "a UUID without its kind finds the one object that has it", tool: "evidence_get_summary", args: at(log[len("evidence:"):]),
			want: `{"summary":{"id":"` + log + `","label":"Log of the night","type":"document"},` + ref(log),
		},
		{name: "an object that is not there is unknown", tool: "graph_get_node", args: at(none), code: "object_unknown"},
		{name: "the kind counts", tool: "graph_get_node", args: at("evidence:" + tower[len("entity:"):]), code: "object_unknown"},
		{name: "no neighbour is found of an unknown object", tool: "graph_get_neighbors", args: at(none), code: "object_unknown"},
		{name: "no summary is given of an unknown object", tool: "evidence_get_summary", args: at(none), code: "object_unknown"},
		{name: "no excerpt is given of an unknown object", tool: "evidence_read_excerpt", args: at(none), code: "object_unknown"},
		{name: "an unknown object comes from nowhere", tool: "provenance_trace", args: at(none), code: "object_unknown"},
	}
	for i := range facts {
		facts[i].core = lighthouse()
	}
	uuid := "0b8e6a52-6f0f-5d0c-9d6e-0f6f0d6b1c11"
	return append(facts, fact{
		name: "a UUID that two kinds have names neither", tool: "graph_get_node", args: at(uuid), code: "object_unknown",
		core: `{"nodes":[{"id":"entity:` + uuid + `"},{"id":"evidence:` + uuid + `"}]}`,
	}, fact{
		name: "an object may have a UUID and no kind", tool: "evidence_get_summary", args: at(uuid),
		core: `{"nodes":[{"id":"entity:` + uuid + `"},{"id":"` + uuid + `","label":"bare"}]}`, part: `{"id":"` + uuid + `","label":"bare","type":""}`,
	})
}

func linking() []fact {
	facts := []fact{
		{
			name: "edges come in the order of the snapshot and lead to objects that exist", tool: "graph_get_neighbors", args: `{"object_id":"` + lamp + `"}`,
			want: `{"edges":[` +
				`{"id":"e1","source":"` + lamp + `","target":"` + tower + `","kind":"business","directed":true},` +
				`{"id":"e2","source":"` + night + `","target":"` + lamp + `","kind":"support","directed":true},` +
				`{"id":"e4","source":"` + lamp + `","target":"` + none + `","kind":"provenance","directed":false},` +
				`{"id":"e5","source":"` + lamp + `","target":"` + lamp + `","kind":"provenance"},` +
				`{"id":"e6","source":"` + log + `","target":"` + lamp + `","kind":"provenance","directed":true}],` +
				`"object_refs":[{"object_id":"` + tower + `"},{"object_id":"` + night + `"},{"object_id":"` + log + `"}],"revision":4}`,
		},
		{
			name: "an object rests on provenance first, then on support, and on no business", tool: "provenance_trace", args: `{"object_id":"` + lamp + `"}`,
			want: `{"object_refs":[{"object_id":"` + lamp + `"}],"provenance_refs":[{"object_id":"` + log + `"},{"object_id":"` + night + `"}],"revision":4}`,
		},
		{
			name: "an object without provenance rests on nothing", tool: "provenance_trace", args: `{"object_id":"` + tower + `"}`,
			want: `{"object_refs":[{"object_id":"` + tower + `"}],"provenance_refs":[],"revision":4}`,
		},
	}
	for i := range facts {
		facts[i].core = lighthouse()
	}
	first := `{"object_id":"` + copyID(0) + `"}`
	return append(facts, fact{
		name: "an object without edges has no neighbours", core: copies(1, ""), tool: "graph_get_neighbors", args: first,
		want: `{"edges":[],"object_refs":[],"revision":0}`,
	}, fact{
		name: "the thirty-third edge is left out, and that is said", core: copies(34, star(33, "business")), tool: "graph_get_neighbors", args: first,
		part: `{"object_id":"` + copyID(2) + `"}],"revision":0,"truncated":true}`,
	}, fact{
		name: "thirty-two edges are all", core: copies(33, star(32, "business")), tool: "graph_get_neighbors", args: first,
		part: `{"object_id":"` + copyID(1) + `"}],"revision":0}`,
	}, fact{
		name: "the thirty-third origin is left out, and that is said", core: copies(34, star(33, "contradiction")), tool: "provenance_trace", args: first,
		part: `{"object_id":"` + copyID(2) + `"}],"revision":0,"truncated":true}`,
	}, fact{
		name: "an origin by two kinds of edges is one", core: copies(2, star(1, "support")+","+star(1, "provenance")), tool: "provenance_trace", args: first,
		want: `{"object_refs":[` + first + `],"provenance_refs":[{"object_id":"` + copyID(1) + `"}],"revision":0}`,
	})
}

func excerpts() []fact {
	at := `{"object_id":"` + copyID(0) + `"}`
	of := func(rest string) string { return `{"nodes":[{"id":"` + copyID(0) + `",` + rest + `}]}` }
	end := `","object_refs":[` + at + `],"revision":0`
	facts := []fact{
		{
			name: "an excerpt is lines of label, type, state and details", core: of(`"state":"OPEN","type":"document","group":"g","label":"Log",` +
				`"details":{"pages":[1,2.0],"by":{"name":"Zoé"},"open":false,"no":null}`),
			want: `{"excerpt":"label: Log\ntype: document\nstate: OPEN\npages: 1\npages: 2.0\nby.name: Zoé\nopen: false` + end + `}`,
		},
		{
			name: "details may be a text", core: of(`"details":"plain"`), want: `{"excerpt":"details: plain` + end + `}`,
		},
		{name: "an object without texts has an empty excerpt", core: of(`"details":{}`), want: `{"excerpt":"` + end + `}`},
		{
			name: "no text makes a second line, nor says anything to a terminal", core: of(`"label":"a\nstate: OPEN\r\u0000\u001b[31m\u2028b\u0085c"`),
			want: `{"excerpt":"label: a state: OPEN   [31m b c` + end + `}`,
		},
		{
			name: "an excerpt ends after 512 characters, not bytes", core: of(`"label":"` + strings.Repeat("🜂", 505) + `é"`),
			want: `{"excerpt":"label: ` + strings.Repeat("🜂", 505) + end + `,"truncated":true}`,
		},
		{
			name: "512 characters are whole", core: of(`"label":"` + strings.Repeat("é", 505) + `"`),
			want: `{"excerpt":"label: ` + strings.Repeat("é", 505) + end + `}`,
		},
		{
			name: "an excerpt is as short when what it is of is long", core: of(`"label":"a","details":{"` + strings.Repeat("k", 300<<10) + `":"` + strings.Repeat("v", 300<<10) + `"}`),
			want: `{"excerpt":"label: a\n` + strings.Repeat("k", 503) + end + `,"truncated":true}`,
		},
	}
	for i := range facts {
		facts[i].tool, facts[i].args = "evidence_read_excerpt", at
	}
	return facts
}

func working() []fact {
	id := "7f000000-0000-4000-8000-00000000000a"
	one := `{"job_id":"` + id + `"}`
	only := `{"jobs":[` + one + `]}`
	jobs := `{"contract":"labfy.local_jobs.snapshot.v1","jobs":[
 {"job_id":"7f000000-0000-4000-8000-000000000001","capability_id":"c.v1","state":"COMPLETED","steps":[1, 2]},
 {"job_id":"job:7f000000-0000-4000-8000-00000000000b","state":"RUNNING"},{"job_id":"job-3"}]}`
	facts := []fact{
		{
			name: "a job is shown whole", jobs: jobs, args: `{"job_id":"7f000000-0000-4000-8000-000000000001"}`,
			want: `{"job":{"job_id":"7f000000-0000-4000-8000-000000000001","capability_id":"c.v1","state":"COMPLETED","steps":[1,2]},"object_refs":[]}`,
		},
		{
			name: "a job's id is the same in capital letters", jobs: jobs, args: `{"job_id":"job:7F000000-0000-4000-8000-00000000000B"}`,
			want: `{"job":{"job_id":"job:7f000000-0000-4000-8000-00000000000b","state":"RUNNING"},"object_refs":[]}`,
		},
		{name: "a job is not found by a part of its id", jobs: jobs, args: `{"job_id":"7f000000-0000-4000-8000-00000000000b"}`, code: "job_unknown"},
		{name: "a job that is not there is unknown", jobs: `{"jobs":[]}`, args: one, code: "job_unknown"},
		{name: "without the file of jobs there is no answer", core: lighthouse(), args: one, code: "snapshot_missing"},
		{name: "a file of jobs may be 256 KiB", jobs: padded(only, 256<<10), args: one, want: `{"job":{"job_id":"` + id + `"},"object_refs":[]}`},
		{name: "a file of jobs of one byte more is refused whole", jobs: padded(only, 256<<10+1), args: one, code: "snapshot_too_large"},
		{name: "jobs of another contract are refused", jobs: `{"contract":"labfy.local_jobs.snapshot.v2","jobs":[{"job_id":"` + id + `"}]}`, args: one, code: "snapshot_invalid"},
		{name: "a job that is there twice is refused", jobs: `{"jobs":[{"job_id":"` + id + `"},{"job_id":"` + id + `"}]}`, args: one, code: "snapshot_invalid"},
		{name: "a job without an id is refused", jobs: `{"jobs":[{"job_id":"` + id + `"},{}]}`, args: one, code: "snapshot_invalid"},
		{name: "a job whose id is a number is refused", jobs: `{"jobs":[{"job_id":"` + id + `"},{"job_id":7}]}`, args: one, code: "snapshot_invalid"},
		{name: "a job that is no object is refused", jobs: `{"jobs":[{"job_id":"` + id + `"},[]]}`, args: one, code: "snapshot_invalid"},
		{name: "a file without jobs is refused", jobs: `{}`, args: one, code: "snapshot_invalid"},
		{name: "a job that names a member twice is refused", jobs: `{"jobs":[{"job_id":"` + id + `","state":"A","state":"B"}]}`, args: one, code: "snapshot_invalid"},
	}
	for i := range facts {
		facts[i].tool = "jobs_get"
	}
	return facts
}

// padded makes a text as long as it shall be, with white space.
func padded(text string, size int) string { return text + strings.Repeat(" ", size-len(text)) }
