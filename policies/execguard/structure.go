package execguard

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assignment judges a variable by its name: some variables are commands that other programs run.
func assignment(n *syntax.Assign) finding {
	if n.Name == nil {
		return isSafe()
	}
	return variable(n.Name.Value)
}

func variable(name string) finding {
	for _, prefix := range []string{"LD_", "DYLD_", "GIT_", "BASH_FUNC_"} {
		if strings.HasPrefix(name, prefix) {
			return finding{level: danger, reason: "A variable is set that makes other programs run commands.", pattern: name}
		}
	}
	switch name {
	case "PATH", "HOME":
		return finding{level: caution, reason: "The command changes where programs and files are found."}
	case "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS0", "PS4", "PAGER", "MANPAGER", "EDITOR", "VISUAL",
		"BROWSER", "LESSOPEN", "LESSCLOSE", "PERL5OPT", "PERL5DB", "PERL5LIB", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME",
		"NODE_OPTIONS", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "SSH_ASKPASS", "SUDO_ASKPASS", "TAR_OPTIONS":
		return finding{level: danger, reason: "A variable is set that makes other programs run commands.", pattern: name}
	}
	return isSafe()
}

// function judges a declaration by how it calls itself. Its body is judged by itself.
func function(n *syntax.FuncDecl) finding {
	if n.Name == nil || n.Body == nil {
		return finding{level: danger, reason: "The command declares a function without a name."}
	}
	calls, forks := 0, false
	syntax.Walk(n.Body, func(node syntax.Node) bool {
		switch m := node.(type) {
		case *syntax.CallExpr:
			if len(m.Args) > 0 && readOne(m.Args[0]).text == n.Name.Value {
				calls++
			}
		case *syntax.Stmt:
			forks = forks || m.Background
		case *syntax.BinaryCmd:
			forks = forks || m.Op == syntax.Pipe || m.Op == syntax.PipeAll
		}
		return true
	})
	switch {
	case calls > 1 || calls == 1 && forks:
		return finding{level: forbidden, reason: "A function starts copies of itself without end.", pattern: "fork bomb"}
	case calls == 1:
		return finding{level: danger, reason: "A function calls itself."}
	}
	return isSafe()
}

// pipe judges what flows into a shell. That the shell reads commands from the pipe is judged where it stands.
func (j *judge) pipe(n *syntax.BinaryCmd) finding {
	if n.Op != syntax.Pipe && n.Op != syntax.PipeAll {
		return isSafe()
	}
	if !readsCommands(n.Y) {
		return isSafe()
	}
	if downloads(n.X) {
		return finding{level: danger, reason: "A download is piped into a program that runs it.", pattern: "curl | sh"}
	}
	worst := isSafe()
	for _, text := range printed(n.X) {
		worst = worst.or(j.program(text))
	}
	return worst.atLeast(danger, "A shell runs what it reads from a pipe.")
}

// fed judges the text that a here-document or here-string feeds to a shell.
func (j *judge) fed(n *syntax.Stmt) finding {
	if len(n.Redirs) == 0 || !readsCommands(n) {
		return isSafe()
	}
	worst := isSafe()
	for _, r := range n.Redirs {
		body := r.Hdoc
		if r.Op == syntax.WordHdoc {
			body = r.Word
		}
		if w := readOne(body); body != nil && w.known() {
			worst = worst.or(j.program(w.text))
		}
	}
	return worst
}

// readsCommands reports whether a statement is a shell or interpreter, perhaps behind sudo and its like.
func readsCommands(n *syntax.Stmt) bool {
	c, ok := n.Cmd.(*syntax.CallExpr)
	if !ok {
		return false
	}
	for _, w := range words(c.Args) {
		name := newCall(w.text, nil).name
		if isShell(name) || isInterpreter(name) {
			return true
		}
		if _, wraps := wrapperNamed(name); !wraps && !w.option() && !strings.Contains(w.text, "=") {
			return false
		}
	}
	return false
}

func downloads(n *syntax.Stmt) bool {
	found := false
	syntax.Walk(n, func(node syntax.Node) bool {
		if c, ok := node.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			switch newCall(readOne(c.Args[0]).text, nil).name {
			case "curl", "wget", "fetch", "aria2c":
				found = true
			}
		}
		return true
	})
	return found
}

// printed returns the texts that echo or printf may write: all arguments as one, and each by itself.
func printed(n *syntax.Stmt) []string {
	c, ok := n.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) < 2 {
		return nil
	}
	if name := readOne(c.Args[0]).text; name != "echo" && name != "printf" {
		return nil
	}
	args := words(c.Args[1:])
	for len(args) > 0 && args[0].option() {
		args = args[1:]
	}
	var texts []string
	if text, known := joined(args); known {
		texts = append(texts, text)
	}
	for _, arg := range args {
		if arg.known() {
			texts = append(texts, arg.text)
		}
	}
	return texts
}

// changesToRoot reports whether the program makes a root-level folder its working folder.
func changesToRoot(file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(node syntax.Node) bool {
		if c, ok := node.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			name := readOne(c.Args[0]).text
			if name == "cd" || name == "pushd" {
				found = found || len(c.Args) == 1 || rootLevel(readOne(c.Args[len(c.Args)-1]))
			}
		}
		return true
	})
	return found
}
