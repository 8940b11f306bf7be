package execguard

import "strings"

// call is one simple command, ready to be judged by the rule of its name.
type call struct {
	name string // without folders
	ours bool   // named without a folder, or in one where the system keeps its programs
	args []word
}

func newCall(given string, args []word) call {
	at := strings.LastIndexByte(given, '/')
	if at < 0 {
		return call{name: given, ours: true, args: args}
	}
	switch given[:at] {
	case "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin":
		return call{name: given[at+1:], ours: true, args: args}
	}
	return call{name: given[at+1:], args: args}
}

// asksForHelp reports whether the command is only asked what it is.
func (c call) asksForHelp() bool {
	return len(c.args) == 1 && (c.args[0].text == "--help" || c.args[0].text == "--version")
}

// has reports whether an option is among the arguments: "-x" also inside a cluster such as -ax, "--long" also
// abbreviated or with a value. A word that is no option but may become one does not count.
func (c call) has(options ...string) bool {
	for _, arg := range c.args {
		if arg.text == "--" {
			return false
		}
		for _, option := range options {
			if arg.is(option) {
				return true
			}
		}
	}
	return false
}

// is reports whether w gives the option.
func (w word) is(option string) bool {
	if !w.option() {
		return false
	}
	name, _, _ := strings.Cut(w.text, "=")
	if strings.HasPrefix(option, "--") {
		return name == option || len(name) > 3 && strings.HasPrefix(option, name)
	}
	if strings.HasPrefix(w.text, "--") {
		return false
	}
	return strings.Contains(name[1:], option[1:])
}

// operands returns the arguments that are no options. With withValues, the word after such an option is its value.
func (c call) operands(withValues ...string) []word {
	var found []word
	for i := 0; i < len(c.args); i++ {
		arg := c.args[i]
		switch {
		case arg.text == "--":
			return append(found, c.args[i+1:]...)
		case !arg.option():
			found = append(found, arg)
		case arg.takesNext(withValues):
			i++
		}
	}
	return found
}

// takesNext reports whether w is exactly an option whose value is the next word.
func (w word) takesNext(withValues []string) bool {
	for _, option := range withValues {
		if w.text == option {
			return true
		}
	}
	return false
}

// unsure reports whether some argument may become an option only when the command runs.
func (c call) unsure() bool {
	for _, arg := range c.args {
		if arg.split && (strings.HasPrefix(arg.text, hole) || strings.HasPrefix(arg.text, "-")) {
			return true
		}
	}
	return false
}

// joined is the arguments as one text, which is how eval and its like read them.
func joined(args []word) (text string, known bool) {
	parts := make([]string, 0, len(args))
	known = true
	for _, arg := range args {
		known = known && arg.known()
		parts = append(parts, arg.text)
	}
	return strings.Join(parts, " "), known
}
