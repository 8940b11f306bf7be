package agent

import (
	"fmt"
	"strings"

	"github.com/fastreact/fastreact/host/internal/handle"
	"github.com/fastreact/fastreact/host/internal/run"
)

// preview returns a result whole when it fits, else its beginning, how much is missing, and the handle under which the
// rest can be read.
func preview(result run.Event, limit int) string {
	text := result.Content
	if len(text) <= limit {
		return text
	}
	shown := strings.ToValidUTF8(text[:limit], "")
	return shown + readOn(len(shown), len(text), handle.Of(result.Ref, result.Sequence))
}

// footer is how the words below the beginning of a result begin.
const footer = "\n[cut: the first "

// withoutFooter is what a tool itself said.
func withoutFooter(text string) string {
	if at := strings.LastIndex(text, footer); at >= 0 {
		return text[:at]
	}
	return text
}

// readOn stands below the beginning of a result.
func readOn(shown, whole int, name string) string {
	return fmt.Sprintf(
		footer+"%d of %d bytes are shown; where %s is among your tools, it reads on: handle %q, offset %d]",
		shown, whole, handle.ToolName, name, shown,
	)
}

// firstLetters cuts text for display.
func firstLetters(text string, limit int) string {
	letters := []rune(text)
	if len(letters) <= limit {
		return text
	}
	return string(letters[:limit])
}
