package host

import (
	"fmt"
	"sort"
	"strings"
)

// notAvailable is the reason why a documented key is refused.
const notAvailable = "not available in this version"

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	Source  string `json:"source"`           // file, environment variable or flag; empty for a default
	Line    int    `json:"line,omitempty"`   // from 1; 0 when the value does not stand in the file
	Column  int    `json:"column,omitempty"` // from 1
	Path    string `json:"path"`             // such as "server.addr"; empty for the whole file
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // what to do
}

// Error shows the problem on one line: place, path, what is wrong, and what to do.
func (p Problem) Error() string {
	var text strings.Builder
	if p.Source != "" {
		text.WriteString(p.Source)
		if p.Line > 0 {
			fmt.Fprintf(&text, ":%d:%d", p.Line, p.Column)
		}
		text.WriteString(": ")
	}
	if p.Path != "" {
		text.WriteString(p.Path + ": ")
	}
	text.WriteString(p.Message)
	if p.Hint != "" {
		text.WriteString(" (" + p.Hint + ")")
	}
	return text.String()
}

// ConfigError holds every problem of a configuration, in the order of the file.
type ConfigError struct {
	Problems []Problem
}

// Error shows one problem a line.
func (e *ConfigError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, problem := range e.Problems {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns each problem as an error of its own.
func (e *ConfigError) Unwrap() []error {
	errs := make([]error, len(e.Problems))
	for i, problem := range e.Problems {
		errs[i] = problem
	}
	return errs
}

// reporter takes one problem: the path it lies at, what is wrong, and what to do.
type reporter func(path, message, hint string)

func inFileOrder(problems []Problem) []Problem {
	sort.SliceStable(problems, func(i, j int) bool {
		a, b := problems[i], problems[j]
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
	return problems
}
