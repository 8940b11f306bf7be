//go:build unix && !linux

package mcpbridge

const keeperWord = ""

// Keep reports false: only Linux has keepers. Elsewhere a server is ended with its process group.
func Keep([]string) (code int, asked bool) { return 0, false }

func sweep(string) {}
