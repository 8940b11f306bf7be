package execguard

import (
	"fmt"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds that keep a parser safe from a command that was built to exhaust it.
const (
	maxCommand = 32 << 10 // bytes
	maxNesting = 100      // open brackets, and commands inside commands inside text
	maxDepth   = 6        // shells started by shells
	maxJudged  = 500      // simple commands, each reading of a doubtful one counted
)

// judge walks one command. It belongs to one call.
type judge struct {
	depth  int
	judged int // commands so far
	rules  map[string]rule
	atRoot bool // the command changes to a root-level folder first
}

// program judges a whole shell program.
func (j *judge) program(text string) finding {
	if problem := unreadable(text); problem != "" {
		return finding{level: danger, reason: problem}
	}
	if j.depth++; j.depth > maxDepth {
		return finding{level: danger, reason: "The command hides commands inside commands too deeply."}
	}
	defer func() { j.depth-- }()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return finding{level: danger, reason: "The command cannot be parsed as shell."}
	}
	if len(file.Stmts) == 0 {
		return finding{level: danger, reason: "There is no command."}
	}
	j.atRoot = j.atRoot || changesToRoot(file)
	worst := isSafe()
	syntax.Walk(file, func(node syntax.Node) bool {
		worst = worst.or(j.node(node))
		return true
	})
	return worst
}

func unreadable(text string) string {
	if len(text) > maxCommand {
		return fmt.Sprintf("The command is longer than %d bytes.", maxCommand)
	}
	nesting, deepest := 0, 0
	for _, r := range text {
		switch {
		case r == '(' || r == '{':
			nesting++
		case r == ')' || r == '}':
			nesting--
		case unicode.IsControl(r) && r != '\n' && r != '\t', unicode.Is(unicode.Cf, r):
			return "The command contains invisible characters."
		}
		deepest = max(deepest, nesting)
	}
	if deepest > maxNesting || keywords(text) > maxNesting {
		return "The command is nested too deeply."
	}
	return ""
}

// keywords counts what opens a construct without a bracket.
func keywords(text string) int {
	count := 0
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == ';' }) {
		switch part {
		case "if", "while", "until", "for", "case", "select", "!", "time", "coproc", "function":
			count++
		}
	}
	return count + strings.Count(text, "`")/2
}

// node judges one node of the syntax tree on its own; its children are judged by themselves.
func (j *judge) node(node syntax.Node) finding {
	switch n := node.(type) {
	case *syntax.CallExpr:
		return j.simple(n)
	case *syntax.Assign:
		return assignment(n)
	case *syntax.Redirect:
		return redirect(n)
	case *syntax.FuncDecl:
		return function(n)
	case *syntax.BinaryCmd:
		return j.pipe(n)
	case *syntax.Stmt:
		return j.fed(n)
	case *syntax.TestDecl:
		return finding{level: danger, reason: "The command declares a test instead of running something."}
	}
	return isSafe()
}

func (j *judge) simple(n *syntax.CallExpr) finding {
	if len(n.Args) == 0 {
		return isSafe()
	}
	return j.command(words(n.Args))
}

// command judges a command given as words, the first of which names it.
func (j *judge) command(all []word) finding {
	if len(all) == 0 {
		return isSafe()
	}
	if j.judged++; j.judged > maxJudged {
		return finding{level: danger, reason: "The command holds too many commands to judge."}
	}
	first := all[0]
	if !first.known() {
		return finding{level: danger, reason: "The name of the command is not known before it runs."}
	}
	c := newCall(first.text, all[1:])
	if c.name == "" || c.name[0] == '-' {
		return finding{level: danger, reason: "The name of the command is empty or looks like an option."}
	}
	return j.byName(c)
}

func (j *judge) byName(c call) finding {
	if strings.HasPrefix(c.name, "mkfs") {
		return finding{level: forbidden, reason: "mkfs formats a file system.", pattern: "mkfs"}
	}
	rule := j.rule(c.name)
	switch {
	case rule == nil, !c.ours && c.name == "script": // people call their own programs so
		return finding{level: caution, reason: fmt.Sprintf("The guard does not know the command %q.", c.name)}
	case c.ours && c.asksForHelp():
		return isSafe()
	}
	found := rule(j, c)
	if !c.ours {
		return found.atLeast(caution, fmt.Sprintf("A local program named %q runs.", c.name))
	}
	return found
}

// rule returns the rule of a command, or nil, and remembers it.
func (j *judge) rule(name string) rule {
	if known, asked := j.rules[name]; asked {
		return known
	}
	if j.rules == nil {
		j.rules = map[string]rule{}
	}
	j.rules[name] = find(name)
	return j.rules[name]
}
