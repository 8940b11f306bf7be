// Package skill keeps the operator's written know-how for the model: one folder for each skill with a SKILL.md in it.
// It promises that a set holds only what it could read whole and understand, and that the same question chooses the
// same skills in the same order.
//
// Where the text stands in a prompt and how much of it fits is left to the agent.
package skill

import (
	"cmp"
	"slices"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Set is what is on the shelf. It never changes and may be read from many goroutines. The zero value is empty.
type Set struct {
	skills []run.Skill // by name
}

// All returns every skill, by name.
func (s *Set) All() []run.Skill { return slices.Clone(s.skills) }

// Choose picks the skills of one run, by name. A list picks exactly what it names; names that are on no skill are
// returned as unknown, in the order they were asked for. Without a list (nil) the choice is automatic: skills that are
// always used, and those of which a trigger stands in the question.
func (s *Set) Choose(question string, wanted *[]string) (chosen []run.Skill, unknown []string) {
	if wanted == nil {
		return s.called(question), nil
	}
	seen := map[string]bool{}
	for _, name := range *wanted {
		if seen[name] {
			continue
		}
		seen[name] = true
		i, found := slices.BinarySearchFunc(s.skills, name, func(known run.Skill, name string) int {
			return cmp.Compare(known.Name, name)
		})
		if found {
			chosen = append(chosen, s.skills[i])
		} else {
			unknown = append(unknown, name)
		}
	}
	sortByName(chosen)
	return chosen, unknown
}

func (s *Set) called(question string) []run.Skill {
	var chosen []run.Skill
	for _, skill := range s.skills {
		if skill.Always || slices.ContainsFunc(skill.Triggers, func(t string) bool { return occurs(t, question) }) {
			chosen = append(chosen, skill)
		}
	}
	return chosen
}

func named(name string) func(run.Skill) bool {
	return func(skill run.Skill) bool { return skill.Name == name }
}

func sortByName(skills []run.Skill) {
	slices.SortFunc(skills, func(a, b run.Skill) int { return cmp.Compare(a.Name, b.Name) })
}
