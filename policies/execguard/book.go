package execguard

import (
	"fmt"
	"strings"
)

// rule judges the calls of one command.
type rule func(*judge, call) finding

// book holds the rule of every command the guard knows, and which of them run other commands. It never changes once
// it is made.
type book struct {
	rules    map[string]rule
	wrappers map[string]wrapper
}

func newBook() book {
	b := book{rules: map[string]rule{}, wrappers: map[string]wrapper{}}
	for _, name := range strings.Fields(readers) {
		b.rules[name] = func(*judge, call) finding { return isSafe() }
	}
	for _, name := range strings.Fields(writers) {
		b.rules[name] = writer
	}
	for _, name := range strings.Fields(careful) {
		b.rules[name] = func(*judge, call) finding {
			return finding{level: caution, reason: name + " may change files or run other programs."}
		}
	}
	for _, row := range rows(dangers) {
		reason := strings.Join(row[1:], " ")
		for _, name := range strings.Split(row[0], ",") {
			b.rules[name] = func(*judge, call) finding {
				return finding{level: danger, reason: name + " " + reason + ".", pattern: name}
			}
		}
	}
	b.addVerbs()
	b.addSpecial()
	b.addHazards()
	b.addWrappers()
	return b
}

// rows splits a table into its lines and words.
func rows(table string) [][]string {
	var all [][]string
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > 0 {
			all = append(all, fields)
		}
	}
	return all
}

// addHazards lets options raise the level of commands that have a rule already.
func (b book) addHazards() {
	options := map[string][]string{}
	for _, row := range rows(hazards) {
		for _, name := range strings.Split(row[0], ",") {
			options[name+" "+row[1]] = append(options[name+" "+row[1]], row[2:]...)
		}
	}
	for key, list := range options {
		name, word, _ := strings.Cut(key, " ")
		b.rules[name] = withHazard(b.rules[name], levelNamed(word), list)
	}
}

func withHazard(inner rule, l level, options []string) rule {
	return func(j *judge, c call) finding {
		found := inner(j, c)
		for _, option := range options {
			if c.has(option) {
				found = found.or(finding{level: l, reason: fmt.Sprintf("%s with %s does more than read.", c.name, option), pattern: c.name + " " + option})
			}
		}
		if c.unsure() {
			found = found.atLeast(caution, "An option of "+c.name+" may only be known when it runs.")
		}
		return found
	}
}

func levelNamed(name string) level {
	switch name {
	case "safe":
		return safe
	case "caution":
		return caution
	case "danger":
		return danger
	}
	return forbidden
}

// writer judges commands whose operands are files they write.
func writer(_ *judge, c call) finding {
	worst := finding{level: caution, reason: c.name + " writes files."}
	for _, operand := range c.operands() {
		worst = worst.or(intoKnown(operand))
	}
	return worst
}

// tee judges tee by where it writes: a device such as /dev/null is no file.
func tee(_ *judge, c call) finding {
	worst := isSafe()
	for _, operand := range c.operands() {
		worst = worst.or(writesTo(operand))
	}
	return worst
}
