package execguard

import (
	"fmt"
	"slices"
	"strings"
)

// rule judges the calls of one command.
type rule func(*judge, call) finding

// find returns the rule of a command, options that raise its level included, or nil. Nothing is built before it is asked
// for: a policy lives for one question only.
func find(name string) rule {
	if w, wraps := wrapperNamed(name); wraps {
		return w.judge
	}
	base := ownRule(name)
	if base == nil {
		return nil
	}
	for fields := range rowsOf(hazards, name) {
		base = withHazard(base, levelNamed(fields[0]), fields[1:])
	}
	return base
}

func ownRule(name string) rule {
	if r := special(name); r != nil {
		return r
	}
	if levels := verbLevels(name); len(levels) > 0 {
		return func(_ *judge, c call) finding { return judgeVerb(c, levels) }
	}
	for fields := range rowsOf(dangers, name) {
		found := finding{level: danger, reason: name + " " + strings.Join(fields, " ") + ".", pattern: name}
		return func(*judge, call) finding { return found }
	}
	switch {
	case listed(careful, name):
		return mayDoMore
	case listed(writers, name):
		return writer
	case listed(readers, name):
		return onlyReads
	}
	return nil
}

// rowsOf yields the words behind the first one of every row whose first word lists the name.
func rowsOf(table, name string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(table) {
			names, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			if slices.Contains(strings.Split(names, ","), name) && !yield(strings.Fields(rest)) {
				return
			}
		}
	}
}

// listed reports whether a name stands in a list of words.
func listed(list, name string) bool {
	for line := range strings.Lines(list) {
		if strings.Contains(line, name) && slices.Contains(strings.Fields(line), name) {
			return true
		}
	}
	return false
}

func withHazard(inner rule, l level, options []string) rule {
	return func(j *judge, c call) finding {
		found := inner(j, c)
		for _, option := range options {
			if c.has(option) {
				reason := fmt.Sprintf("%s with %s does more than read.", c.name, option)
				found = found.or(finding{level: l, reason: reason, pattern: c.name + " " + option})
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

func onlyReads(*judge, call) finding { return isSafe() }

func mayDoMore(_ *judge, c call) finding {
	return finding{level: caution, reason: c.name + " may change files or run other programs."}
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
