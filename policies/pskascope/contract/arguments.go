package contract

import "github.com/fastreact/fastreact/sdk"

func bounding() []injected {
	soft := alpha()
	soft.Mode = sdk.Soft
	return []injected{
		{
			name: "a call without a wish gets the scope", args: `{"query":"q","top_k":5}`,
			want: `{"query":"q","top_k":5,"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"scope_mode":"hard"}`,
		},
		{
			name: "no arguments at all get the scope", args: `{}`,
			want: `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"scope_mode":"hard"}`,
		},
		{
			name: "a soft scope bounds arguments too", scope: soft, args: `{}`,
			want: `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"scope_mode":"soft"}`,
		},
		{
			name: "a dimension that is not bounded is left alone", scope: sdk.Scope{Mode: sdk.Hard, KnowledgeBaseIDs: []string{"kb_a"}},
			args: `{"source_item_ids":["x"]}`,
			want: `{"source_item_ids":["x"],"knowledge_base_ids":["kb_a"],"scope_mode":"hard"}`,
		},
		{
			name: "numbers stay as they were written", args: `{"n":1.10,"big":12345678901234567890,"e":1E2}`,
			want: `{"n":1.10,"big":12345678901234567890,"e":1E2,"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"scope_mode":"hard"}`,
		},
		{
			name: "an inner scope is bounded as well", args: `{"scope":{"knowledge_base_ids":["kb_b"],"depth":2}}`,
			want: `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"scope_mode":"hard",
				"scope":{"depth":2,"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"mode":"hard"}}`,
			narrowed: []string{"scope.knowledge_base_ids"},
		},
		{
			name: "the mode is set everywhere", args: `{"scope_mode":"soft","scope":{"mode":"soft","scope_mode":"soft"}}`,
			want: `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"scope_mode":"hard",
				"scope":{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"mode":"hard","scope_mode":"hard"}}`,
			narrowed: []string{"scope.mode", "scope.scope_mode", "scope_mode"},
		},
		{
			name: "ids that cannot be checked pass and are listed", args: `{"document_ids":["d"],"chunk_ids":null,"job_id":"j","scope":{"entity_ids":["e"]}}`,
			unverified: []string{"document_ids", "job_id", "scope.entity_ids"},
		},
	}
}

func narrowing() []injected { return append(narrowedSources(), narrowedReferences()...) }

func narrowedSources() []injected {
	return []injected{
		{
			name: "sources are cut to the scope in the order asked for", args: `{"source_item_ids":["s3","x","s1","s3"]}`,
			want:     `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s3","s1"],"scope_mode":"hard"}`,
			narrowed: []string{"source_item_ids"},
		},
		{
			name: "asking for less is no narrowing", args: `{"source_item_ids":["s2"]}`,
			want: `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s2"],"scope_mode":"hard"}`,
		},
		{
			name: "a scalar is a list of one", args: `{"source_item_ids":"s2","knowledge_base_ids":"kb_a"}`,
			want: `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s2"],"scope_mode":"hard"}`,
		},
		{
			name: "an empty list, blanks and null ask for nothing", args: `{"source_item_ids":["",null," "],"knowledge_base_ids":null}`,
			want: `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"scope_mode":"hard"}`,
		},
		{
			name: "other knowledge bases are replaced", args: `{"knowledge_base_ids":["kb_b","kb_a"]}`,
			want:     `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"scope_mode":"hard"}`,
			narrowed: []string{"knowledge_base_ids"},
		},
		{
			name: "nothing inside the scope is empty", args: `{"source_item_ids":["x"]}`,
			narrowed: []string{"source_item_ids"}, empty: true,
		},
		{
			name: "an inner wish outside the scope is empty", args: `{"scope":{"source_item_ids":["x"]}}`,
			narrowed: []string{"scope.source_item_ids"}, empty: true,
		},
		{
			name: "two wishes without a common source are empty", args: `{"source_item_ids":["s1"],"scope":{"source_item_ids":["s2"]}}`,
			empty: true,
		},
		{
			name: "a single source outside the scope is empty", args: `{"source_item_id":"x"}`,
			narrowed: []string{"source_item_id"}, empty: true,
		},
		{
			name: "a single source inside the scope stays", args: `{"source_item_id":"s2"}`,
			want: `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s2"],"source_item_id":"s2","scope_mode":"hard"}`,
		},
	}
}

func narrowedReferences() []injected {
	return []injected{
		{
			name: "references outside the scope are dropped",
			args: `{"source_refs":["s1","x",{"source_item_id":"s2","page":1},{"source_ref":"x"},{"page":2},7]}`,
			want: `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"source_refs":["s1",{"source_item_id":"s2","page":1}],
				"scope_mode":"hard"}`,
			narrowed: []string{"source_refs"},
		},
		{
			name: "a reference must not name another knowledge base", args: `{"source_refs":["s1",{"source_ref":"s2","knowledge_base_id":"kb_b"}]}`,
			want:     `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"source_refs":["s1"],"scope_mode":"hard"}`,
			narrowed: []string{"source_refs"},
		},
		{
			name: "references that all lie outside are empty", args: `{"source_refs":[{"source_item_id":"x"}]}`,
			narrowed: []string{"source_refs"}, empty: true,
		},
	}
}

func hostile() []injected {
	whole := `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"scope_mode":"hard"}`
	inner := `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"scope_mode":"hard",
		"scope":{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"mode":"hard"}}`
	return []injected{
		{
			name: "keys in another case are dropped", args: `{"Knowledge_Base_IDs":["kb_b"],"SOURCE_ITEM_IDS":["x"],"Scope":{"mode":"soft"},"Scope_Mode":"soft"}`,
			want: whole, narrowed: []string{"knowledge_base_ids", "scope", "scope_mode", "source_item_ids"},
		},
		{
			name: "letters that fold to ASCII are dropped", args: `{"\u212anowledge_base_ids":["kb_b"],"\u017fource_item_ids":["x"]}`,
			want: whole, narrowed: []string{"knowledge_base_ids", "source_item_ids"},
		},
		{
			name: "inner keys in another case are dropped", args: `{"scope":{"Knowledge_base_ids":["kb_b"],"MODE":"soft"}}`,
			want: inner, narrowed: []string{"scope.knowledge_base_ids", "scope.mode"},
		},
		{
			name: "a doubled key does not hide the first", args: `{"source_item_ids":["x"],"source_item_ids":["s1"]}`,
			narrowed: []string{"source_item_ids"}, empty: true,
		},
		{
			name: "a doubled free key is sent once", args: `{"query":"a","query":"b"}`,
			want: `{"query":"b","knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"scope_mode":"hard"}`,
		},
		{name: "a scope that is text is replaced", args: `{"scope":"{\"knowledge_base_ids\":[\"kb_b\"]}"}`, want: inner, narrowed: []string{"scope"}},
		{name: "a scope that is a list is replaced", args: `{"scope":[{"mode":"soft"}]}`, want: inner, narrowed: []string{"scope"}},
		{name: "a scope that is null is replaced", args: `{"scope":null}`, want: inner},
		{name: "a number for a source is outside", args: `{"source_item_ids":[7]}`, narrowed: []string{"source_item_ids"}, empty: true},
		{name: "an object for sources is outside", args: `{"source_item_ids":{"all":true}}`, narrowed: []string{"source_item_ids"}, empty: true},
		{name: "nested lists of sources are outside", args: `{"source_item_ids":[["s1"],["x"]]}`, narrowed: []string{"source_item_ids"}, empty: true},
		{
			name: "a reference with a doubled name is dropped", args: `{"source_refs":["s1",{"source_item_id":"s1","source_item_id":"x"}]}`,
			want:     `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"source_refs":["s1"],"scope_mode":"hard"}`,
			narrowed: []string{"source_refs"},
		},
		{
			name: "a reference with a name in another case is dropped", args: `{"source_refs":["s1",{"source_item_id":"s1","Source_Ref":"s1"}]}`,
			want:     `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"source_refs":["s1"],"scope_mode":"hard"}`,
			narrowed: []string{"source_refs"},
		},
		{
			name: "a look-alike that no reader folds is left", args: `{"source_item_id\u0455":["x"]}`,
			want: `{"source_item_id\u0455":["x"],"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"scope_mode":"hard"}`,
		},
	}
}

func schemas() []injected {
	return []injected{
		{
			name: "an open schema gets undeclared keys", schema: `{"type":"object","properties":{"query":{}}}`, args: `{}`,
			want: `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"scope_mode":"hard"}`,
		},
		{
			name: "a closed schema gets declared keys only", schema: `{"properties":{"source_item_ids":{},"knowledge_base_ids":{}},"additionalProperties":false}`,
			args: `{"scope":{"mode":"soft"}}`, want: `{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"]}`,
			narrowed: []string{},
		},
		{
			name: "a closed schema without a place for the bounds is not applied", schema: `{"properties":{"query":{}},"additionalProperties":false}`,
			args: `{"query":"q","source_item_ids":["s1"]}`, want: `{"query":"q"}`, unapplied: true,
		},
		{
			name: "a closed schema may take the bounds in scope", schema: `{"properties":{"scope":{"type":"object"}},"additionalProperties":false}`,
			args: `{}`, want: `{"scope":{"knowledge_base_ids":["kb_a"],"source_item_ids":["s1","s2","s3"],"mode":"hard"}}`,
		},
	}
}
