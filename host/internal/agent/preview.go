package agent

import (
	"fmt"
	"strings"
)

// preview returns text whole when it fits, else its beginning and a sentence that says how much is missing.
func preview(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	shown := strings.ToValidUTF8(text[:limit], "")
	return fmt.Sprintf("%s\n[cut: the first %d of %d bytes are shown]", shown, len(shown), len(text))
}

// firstLetters cuts text for display.
func firstLetters(text string, limit int) string {
	letters := []rune(text)
	if len(letters) <= limit {
		return text
	}
	return string(letters[:limit])
}
