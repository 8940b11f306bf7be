package execguard

import "strings"

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash":
		return true
	}
	return false
}

func isInterpreter(name string) bool {
	name = strings.TrimRight(name, "0123456789.")
	switch name {
	case "python", "pypy", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "Rscript", "R", "julia", "guile", "racket", "pwsh":
		return true
	}
	return false
}

// shell judges a shell that is started: what -c is given is judged as a program of its own.
func shell(j *judge, c call) finding {
	for i := 0; i < len(c.args); i++ {
		arg := c.args[i]
		switch {
		case arg.text == "--":
			continue
		case arg.text == "--rcfile" || arg.text == "--init-file":
			return finding{level: danger, reason: "A shell starts with a start-up file of its own.", pattern: arg.text}
		case arg.text == "-o" || arg.text == "-O" || arg.text == "+o" || arg.text == "+O":
			i++
		case arg.option() && !strings.HasPrefix(arg.text, "--") && strings.Contains(arg.text, "c"):
			return shellText(j, call{args: c.args[i+1:]}.operands())
		case arg.option() && !strings.HasPrefix(arg.text, "--") && strings.Contains(arg.text, "s"):
			return standardInput(c)
		case arg.option() || strings.HasPrefix(arg.text, "+"):
		case !arg.known() || strings.HasPrefix(arg.text, "/dev/"):
			return finding{level: danger, reason: "A shell runs a script that is not known before it runs."}
		default:
			return finding{level: caution, reason: c.name + " runs a script."}
		}
	}
	return standardInput(c)
}

func shellText(j *judge, operands []word) finding {
	if len(operands) == 0 {
		return finding{level: danger, reason: "A shell is started without a command."}
	}
	if !operands[0].known() {
		return finding{level: danger, reason: "A shell runs a text that is not known before it runs.", pattern: "sh -c"}
	}
	return j.program(operands[0].text)
}

func standardInput(c call) finding {
	return finding{level: danger, reason: c.name + " runs what it reads from its input.", pattern: "pipe to " + c.name}
}

// interpreter judges a language's interpreter: code in its arguments is not judged but shown to a person.
func interpreter(_ *judge, c call) finding {
	if c.has("-c", "-e", "-E", "-r", "--eval", "--print", "--execute", "--run") || c.name == "node" && c.has("-p") {
		return finding{level: danger, reason: c.name + " runs code from the command line.", pattern: c.name + " -c"}
	}
	operands := c.operands("-m", "-W", "-X", "-I", "-M", "-d")
	switch {
	case c.has("-m"):
		return finding{level: caution, reason: c.name + " runs a module."}
	case len(c.args) == 1 && (c.args[0].text == "-V" || c.args[0].text == "-v"):
		return isSafe()
	case len(operands) == 0 || operands[0].text == "-" || strings.HasPrefix(operands[0].text, "/dev/"):
		return standardInput(c)
	case !operands[0].known():
		return finding{level: danger, reason: c.name + " runs a script that is not known before it runs."}
	}
	return finding{level: caution, reason: c.name + " runs a script."}
}

// eval judges text that is run as a command.
func eval(j *judge, c call) finding {
	own := finding{level: danger, reason: c.name + " runs a text as a command.", pattern: c.name}
	if text, known := joined(c.operands()); known && text != "" {
		return own.or(j.program(text))
	}
	return own
}

// quoted judges commands whose operands are shell text: watch, parallel, trap, alias.
func quoted(j *judge, c call) finding {
	own := finding{level: caution, reason: c.name + " runs a text as a command."}
	operands := c.operands("-n", "--interval", "-j", "--jobs")
	if c.name == "trap" && len(operands) > 0 {
		if operands[0].text == "" {
			return own
		}
		operands = operands[:1]
	}
	if c.name == "alias" {
		return own.or(j.aliases(operands))
	}
	text, known := joined(operands)
	if !known && c.name != "parallel" {
		return own.atLeast(danger, c.name+" runs a text that is not known before it runs.")
	}
	if text == "" {
		return own
	}
	return own.or(j.program(strings.ReplaceAll(text, hole, "\"$1\"")))
}

func (j *judge) aliases(operands []word) finding {
	worst := isSafe()
	for _, operand := range operands {
		_, text, assigned := strings.Cut(operand.text, "=")
		switch {
		case !assigned || text == "":
		case !operand.known():
			worst = worst.atLeast(danger, "An alias holds a text that is not known before it runs.")
		default:
			worst = worst.or(j.program(text))
		}
	}
	return worst
}

// source judges a file that the shell reads as its own commands.
func source(_ *judge, c call) finding {
	if len(c.args) == 0 || !c.args[0].known() || strings.HasPrefix(c.args[0].text, "/dev/") {
		return finding{level: danger, reason: "The shell runs a file that is not known before it runs.", pattern: c.name}
	}
	return finding{level: caution, reason: "The shell runs a file."}
}
