package logs

import (
	"path"
	"regexp"
	"strings"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
)

// maxQuery bounds a query and a glob in bytes.
const maxQuery = 512

// readQuery reads a plain text, which is found in any case, or /regexp/ and /regexp/i in RE2 syntax.
func readQuery(text string) (func(line string) bool, error) {
	body, plain := text, true
	flags := ""
	if rest, ok := strings.CutPrefix(text, "/"); ok {
		if inner, found := strings.CutSuffix(rest, "/i"); found {
			body, plain, flags = inner, false, "(?i)"
		} else if inner, found := strings.CutSuffix(rest, "/"); found {
			body, plain = inner, false
		}
	}
	if plain || body == "" {
		wanted := strings.ToLower(text)
		return func(line string) bool { return strings.Contains(strings.ToLower(line), wanted) }, nil
	}
	compiled, err := regexp.Compile(flags + body)
	if err != nil {
		return nil, fact.Refuse("The argument query is no regular expression in RE2 syntax; write plain text without slashes around it.")
	}
	return compiled.MatchString, nil
}

// pattern is a glob over paths below a folder: ** stands for any number of folders.
type pattern []string

func readPattern(glob string) (pattern, error) {
	if glob == "" {
		return pattern{"**"}, nil
	}
	wrong := fact.Refuse("The argument paths is no glob below the log folders, such as app*.log or **/nginx/*.log.")
	glob = strings.TrimPrefix(glob, "./")
	if strings.HasPrefix(glob, "/") || strings.Contains(glob, `\`) {
		return nil, wrong
	}
	parts := strings.Split(glob, "/")
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return nil, wrong
		}
		if _, err := path.Match(part, "x"); err != nil {
			return nil, wrong
		}
	}
	if len(parts) > 32 || strings.Count(glob, "**") > 4 {
		return nil, wrong
	}
	return parts, nil
}

// matches reports whether the pattern is for a path. A pattern of one part is for file names in any folder.
func (p pattern) matches(name string) bool {
	parts := strings.Split(name, "/")
	if len(p) == 1 && p[0] != "**" {
		parts = parts[len(parts)-1:]
	}
	return matchParts(p, parts)
}

func matchParts(glob, parts []string) bool {
	for len(glob) > 0 && glob[0] != "**" {
		if len(parts) == 0 {
			return false
		}
		if ok, err := path.Match(glob[0], parts[0]); err != nil || !ok {
			return false
		}
		glob, parts = glob[1:], parts[1:]
	}
	if len(glob) == 0 {
		return len(parts) == 0
	}
	if len(glob) == 1 {
		return len(parts) > 0
	}
	for skipped := range parts {
		if matchParts(glob[1:], parts[skipped:]) {
			return true
		}
	}
	return false
}
