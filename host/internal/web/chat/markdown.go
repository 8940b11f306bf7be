package chat

import (
	"fmt"
	"regexp"
	"strings"
)

// markdown is the answer as a text. Nothing in it can become markup: every text is one line, with what would be read
// as Markdown escaped. The fixed fallback leaves as it is.
func (c content) markdown() string {
	switch payload := c.Payload.(type) {
	case report:
		return payload.markdown()
	case spoken:
		if c.Type == fallbackContent {
			return payload.Text
		}
		return escaped(payload.Text)
	}
	return ""
}

func (r report) markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "# Diagnosis\n\n%s\n", escaped(r.Summary))
	section(&out, "Findings", len(r.Findings))
	for i, f := range r.Findings {
		fmt.Fprintf(&out, "%d. **%s** %s", i+1, f.Severity, escaped(f.Statement))
		if len(f.EvidenceIDs) > 0 {
			fmt.Fprintf(&out, " (%s)", escaped(strings.Join(f.EvidenceIDs, ", ")))
		}
		out.WriteByte('\n')
	}
	if cause := escaped(r.LikelyCause); cause != "" {
		fmt.Fprintf(&out, "\n## Likely cause\n\n%s\n", cause)
	}
	section(&out, "Recommended actions", len(r.RecommendedActions))
	for i, action := range r.RecommendedActions {
		fmt.Fprintf(&out, "%d. %s\n", i+1, escaped(action))
	}
	section(&out, "Evidence", len(r.Evidence))
	for _, e := range r.Evidence {
		fmt.Fprintf(&out, "- %s: %s (%s, %s)\n",
			escaped(e.EvidenceID), escaped(e.Title), escaped(e.Source), escaped(e.ObservedAt))
	}
	return out.String()
}

// section writes the heading of a list, where there is one.
func section(out *strings.Builder, name string, items int) {
	if items > 0 {
		fmt.Fprintf(out, "\n## %s\n\n", name)
	}
}

// What Markdown reads in a line, and what it reads at the beginning of one.
const (
	markup  = "([\\\\`*_\\[\\]<>&|~#!$]|:(?:/))"
	leading = `^([-+=]|\d+[.)])`
)

// escaped returns text on one line that Markdown shows as it stands.
func escaped(text string) string {
	line := strings.Join(strings.Fields(text), " ")
	line = regexp.MustCompile(markup).ReplaceAllString(line, `\$1`)
	return regexp.MustCompile(leading).ReplaceAllStringFunc(line, func(sign string) string {
		return sign[:len(sign)-1] + `\` + sign[len(sign)-1:]
	})
}
