package contract

import (
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

func results() []filtered {
	return append(keptResults(), append(removedResults(), nestedResults()...)...)
}

// gone is what a result says about n entries that were removed.
func gone(n string) string {
	return `"diagnostics":{"tool_policy_scope_result_filter":{"removed":` + n + `}}`
}

func keptResults() []filtered {
	soft := alpha()
	soft.Mode = sdk.Soft
	return []filtered{
		{name: "a result inside the scope is untouched", result: `{"results":[{"source_item_id":"s1","score":0.50,"text":"<a>"}],"n":1e3}`},
		{name: "a result that names nothing is untouched", result: `{"status":"ok","indexed":12}`},
		{name: "a soft scope filters nothing", scope: soft, result: `{"results":[{"source_item_id":"x"}]}`},
		{name: "an unbounded dimension filters nothing", scope: sdk.Scope{Mode: sdk.Hard, KnowledgeBaseIDs: []string{"kb_a"}}, result: `{"results":[{"source_item_id":"x"}]}`},
		{name: "entries without names stay", result: `{"results":[{"source_item_id":null},{"source_item_id":""},{"text":"t"}]}`},
		{name: "plain values stay", result: `[1,"two",true,null]`},
	}
}

func removedResults() []filtered {
	return []filtered{
		{
			name: "entries of another source are removed", result: `{"results":[{"source_item_id":"s1"},{"source_item_id":"x"}],"n":2}`,
			want: `{"results":[{"source_item_id":"s1"}],"n":2,` + gone("1") + `}`, removed: 1,
		},
		{
			name: "entries of another knowledge base are removed", result: `{"items":[{"knowledge_base_id":"kb_b","source_item_id":"s1"},{"knowledge_base_id":"kb_a"}]}`,
			want: `{"items":[{"knowledge_base_id":"kb_a"}],` + gone("1") + `}`, removed: 1,
		},
		{
			name: "a foreign citation takes its entry along", result: `{"results":[{"text":"t","citation":{"source_item_id":"x"}},{"text":"u","citation":{"source_ref":"s1"}}]}`,
			want: `{"results":[{"text":"u","citation":{"source_ref":"s1"}}],` + gone("1") + `}`, removed: 1,
		},
		{
			name: "a foreign citation in a list takes its entry along", result: `{"results":[{"text":"t","citations":[{"source_item_id":"s1"},{"source_item_id":"x"}]}]}`,
			want: `{"results":[],` + gone("1") + `}`, removed: 1,
		},
		{
			name: "citations of the whole are removed one by one", result: `{"results":[],"citations":[{"source_id":"x"},{"source_id":"s1"}]}`,
			want: `{"results":[],"citations":[{"source_id":"s1"}],` + gone("1") + `}`, removed: 1,
		},
		{
			name: "names in lists are removed", result: `{"source_item_ids":["s1","x"]}`,
			want: `{"source_item_ids":["s1"],` + gone("1") + `}`, removed: 1,
		},
	}
}

func nestedResults() []filtered {
	return []filtered{
		{
			name: "deeply wrapped entries are found", result: `{"data":{"pages":[[{"hits":[{"source_item_id":"x"},{"source_item_id":"s2"}]}]]}}`,
			want: `{"data":{"pages":[[{"hits":[{"source_item_id":"s2"}]}]]},` + gone("1") + `}`, removed: 1,
		},
		{
			name: "an inner object that is foreign is removed", result: `{"item":{"text":"t","source":{"source_item_id":"x"}},"ok":true}`,
			want: `{"ok":true,` + gone("1") + `}`, removed: 1,
		},
		{
			name: "a result that is foreign as a whole is withheld", result: `{"source_item_id":"x","text":"t"}`,
			want: `{"results":[],"citations":[],` + gone("1") + `}`, removed: 1,
		},
		{
			name: "a list at the top loses foreign entries", result: `[{"source_item_id":"x"},{"source_item_id":"s1"}]`,
			want: `[{"source_item_id":"s1"}]`, removed: 1,
		},
		{
			name: "a doubled name does not hide another", result: `{"results":[{"source_item_id":"x","source_item_id":"s1"}]}`,
			want: `{"results":[],` + gone("1") + `}`, removed: 1,
		},
		{
			name: "a name in another case is read", result: `{"results":[{"Source_Item_ID":"x"}]}`,
			want: `{"results":[],` + gone("1") + `}`, removed: 1,
		},
		{
			name: "a number as a name is foreign", result: `{"results":[{"source_item_id":7}]}`,
			want: `{"results":[],` + gone("1") + `}`, removed: 1,
		},
		{
			name: "text that is JSON is read", result: `{"text":"{\"results\":[{\"source_item_id\":\"x\"}],\"n\":1}"}`,
			want:    `{"text":"{\"results\":[],\"n\":1}",` + gone("1") + `}`,
			removed: 1,
		},
		{
			name: "other diagnostics are kept", result: `{"results":[{"source_id":"x"}],"diagnostics":{"took":3}}`,
			want: `{"results":[],"diagnostics":{"took":3,"tool_policy_scope_result_filter":{"removed":1}}}`, removed: 1,
		},
		{
			name: "numbers of what stays are as they were", result: `{"results":[{"source_id":"x"},{"source_id":"s1","score":0.10,"id":12345678901234567890}]}`,
			want: `{"results":[{"source_id":"s1","score":0.10,"id":12345678901234567890}],` + gone("1") + `}`, removed: 1,
		},
		{
			name:   "what is nested too deeply to read is removed",
			result: `{"a":` + strings.Repeat(`[`, 200) + `{"source_id":"x"}` + strings.Repeat(`]`, 200) + `}`,
			want:   `{"a":` + strings.Repeat(`[`, 64) + strings.Repeat(`]`, 64) + `,` + gone("1") + `}`, removed: 1,
		},
	}
}
