package host

import (
	"context"

	"github.com/fastreact/fastreact/sdk"
)

// examined is a native plugin that can ask its sources how they are.
type examined interface {
	Check(ctx context.Context) []sdk.SourceStatus
}

// examineSources says what was found out about the sources of evidence.
func examineSources(sources []sdk.SourceStatus) []Finding {
	if len(sources) == 0 {
		return []Finding{{
			"evidence", Degrade, "no source is configured: a diagnosis has nothing to look at",
			"name a Prometheus, log folders or a database in harness.chat.evidence",
		}}
	}
	var findings []Finding
	for _, source := range sources {
		found := Finding{Part: "evidence " + source.Name, Health: Works, Says: "answers"}
		if !source.Alive {
			found.Health, found.Says, found.Do = Broken, source.LastError, "check its entry in harness.chat.evidence"
		}
		findings = append(findings, found)
	}
	return findings
}
