package main

// citation names where a statement comes from.
type citation struct {
	SourceItemID    string `json:"source_item_id"`
	KnowledgeBaseID string `json:"knowledge_base_id"`
	Title           string `json:"title"`
}

type entry struct {
	Title    string   `json:"title"`
	Snippet  string   `json:"snippet,omitempty"`
	Text     string   `json:"text,omitempty"`
	Score    float64  `json:"score"`
	Status   string   `json:"status,omitempty"`
	Links    []string `json:"links,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Citation citation `json:"citation"`
}

// answer is what every tool returns, as JSON text.
type answer struct {
	Results     []entry        `json:"results"`
	Citations   []citation     `json:"citations"`
	Diagnostics map[string]any `json:"diagnostics"`
}

func newAnswer(tool string, args arguments) *answer {
	return &answer{Results: []entry{}, Citations: []citation{}, Diagnostics: map[string]any{
		"tool": tool, "user_id": args.user, "scope_mode": args.mode(),
		"knowledge_base_ids": orEmpty(args.bounds().KnowledgeBases), "source_item_ids": orEmpty(args.bounds().Sources),
	}}
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func (a *answer) add(n note, e entry) {
	e.Title = n.Title
	e.Citation = citation{SourceItemID: n.ID, KnowledgeBaseID: n.KnowledgeBase, Title: n.Title}
	a.Results = append(a.Results, e)
	a.Citations = append(a.Citations, e.Citation)
}
