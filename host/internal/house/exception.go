package house

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed exceptions.txt
var exceptions string

// Exception is a place where a rule does not hold.
type Exception struct {
	File   string
	Words  string // part of the rule's sentence
	Reason string
}

// ReadExceptions reads exceptions. Lines that start with # are comments.
func ReadExceptions(text string) ([]Exception, error) {
	var all []Exception
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) != 3 || strings.TrimSpace(cells[2]) == "" {
			return nil, fmt.Errorf("exceptions.txt:%d: want file | words of the rule | reason", i+1)
		}
		all = append(all, Exception{
			File: strings.TrimSpace(cells[0]), Words: strings.TrimSpace(cells[1]), Reason: strings.TrimSpace(cells[2]),
		})
	}
	return all, nil
}

// excuses reports whether the exception covers a finding.
func (e Exception) excuses(finding Finding) bool {
	return strings.HasPrefix(finding.At, e.File+":") && strings.Contains(finding.Rule, e.Words)
}
