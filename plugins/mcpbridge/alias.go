package mcpbridge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// aliases gives tools their registered names. For one set of servers the mapping from (server, raw name) to name is
// injective and depends on nothing but that set, so that a policy rule keeps meaning the same tool.
//
// A tool is named <server>_<tool> where providers accept that and nobody else could mean it; otherwise the name ends
// in a mark and a digest of both parts. A plain name never ends like a digested one.
type aliases struct {
	servers  []string
	reserved []string
}

// maxName is the longest tool name that model providers accept.
const maxName = 64

func newAliases(servers []Server, reserved []string) aliases {
	builtIn := []string{"exec", "read_file", "write_file", "edit_file", "list_files", "glob_files", "grep_files"}
	a := aliases{reserved: append(builtIn, reserved...)}
	for _, s := range servers {
		a.servers = append(a.servers, s.Name)
	}
	return a
}

func (a aliases) name(server, raw string) string {
	plain := server + "_" + raw
	if a.plainIsSafe(server, plain) {
		return plain
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s:%s", len(server), server, raw))
	mark := "_x" + hex.EncodeToString(sum[:6])
	return clip(providerSafe(plain), maxName-len(mark)) + mark
}

func (a aliases) plainIsSafe(server, plain string) bool {
	switch {
	case len(plain) > maxName, providerSafe(plain) != plain, slices.Contains(a.reserved, plain):
		return false
	case regexp.MustCompile(`_x[0-9a-f]{12}$`).MatchString(plain):
		return false
	}
	// "a" with tool "b_c" and "a_b" with tool "c" want the same name: the longest server name gets it.
	return !slices.ContainsFunc(a.servers, func(other string) bool {
		return len(other) > len(server) && strings.HasPrefix(plain, other+"_")
	})
}

func providerSafe(name string) string {
	return regexp.MustCompile(`[^a-zA-Z0-9_-]`).ReplaceAllString(name, "_")
}

func clip(text string, size int) string {
	if len(text) <= size {
		return text
	}
	return text[:size]
}
