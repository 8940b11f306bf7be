package report

import "github.com/fastreact/fastreact/sdk/wire"

// Append writes a report as JSON, always the same bytes for the same report. Members of evidence, if any, become its
// last key: title and origin of each, and nothing of what they hold.
func (r Report) Append(out []byte, cited []Item) []byte {
	out = wire.AppendText(append(out, `{"summary":`...), r.Summary)
	out = append(out, `,"findings":[`...)
	for i, f := range r.Findings {
		if i > 0 {
			out = append(out, ',')
		}
		out = f.append(out)
	}
	out = wire.AppendText(append(out, `],"likely_cause":`...), r.LikelyCause)
	out = append(out, `,"recommended_actions":`...)
	out = wire.AppendTexts(out, append([]string{}, r.RecommendedActions...))
	if cited == nil {
		return append(out, '}')
	}
	out = append(out, `,"evidence":[`...)
	for i, item := range cited {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(item.appendHead(append(out, '{')), '}')
	}
	return append(out, `]}`...)
}

func (f Finding) append(out []byte) []byte {
	out = wire.AppendText(append(out, `{"statement":`...), f.Statement)
	out = wire.AppendText(append(out, `,"severity":`...), string(f.Severity))
	out = wire.AppendTexts(append(out, `,"evidence_ids":`...), f.EvidenceIDs)
	return append(out, '}')
}

// Append writes an item as JSON, always the same bytes for the same item.
func (i Item) Append(out []byte) []byte {
	out = i.appendHead(append(out, '{'))
	out = append(out, `,"facts":[`...)
	for n, f := range i.Facts {
		if n > 0 {
			out = append(out, ',')
		}
		out = wire.AppendText(append(out, `{"name":`...), f.Name)
		out = wire.AppendText(append(out, `,"value":`...), f.Value)
		out = append(wire.AppendText(append(out, `,"unit":`...), f.Unit), '}')
	}
	return append(wire.AppendText(append(out, `],"excerpt":`...), i.Excerpt), '}')
}

func (i Item) appendHead(out []byte) []byte {
	out = wire.AppendText(append(out, `"evidence_id":`...), i.ID)
	out = wire.AppendText(append(out, `,"source":`...), i.Source)
	out = wire.AppendText(append(out, `,"title":`...), i.Title)
	return wire.AppendText(append(out, `,"observed_at":`...), i.ObservedAt)
}
