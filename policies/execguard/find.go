package execguard

import "strings"

// findFiles judges find by its actions: what it runs, deletes and writes.
func findFiles(j *judge, c call) finding {
	worst := isSafe()
	for i := 0; i < len(c.args); i++ {
		arg := c.args[i]
		switch arg.text {
		case "-delete":
			worst = worst.or(c.deletes())
		case "-exec", "-execdir", "-ok", "-okdir":
			end := endOfAction(c.args, i+1)
			worst = worst.or(j.command(withHoles(c.args[i+1:end], []string{"{}"})))
			i = end
		case "-fprint", "-fprint0", "-fprintf", "-fls":
			if i+1 < len(c.args) {
				worst = worst.or(writesTo(c.args[i+1])).atLeast(caution, "find writes a file.")
			}
		default:
			if i > 0 && arg.split && strings.HasPrefix(arg.text, hole) {
				worst = worst.atLeast(caution, "An action of find may only be known when it runs.")
			}
		}
	}
	return worst
}

func endOfAction(args []word, from int) int {
	for i := from; i < len(args); i++ {
		if args[i].text == ";" || args[i].text == "+" && i > from && strings.Contains(args[i-1].text, "{}") {
			return i
		}
	}
	return len(args)
}

// deletes judges -delete: below a root-level folder and without a test it deletes everything.
func (c call) deletes() finding {
	own := finding{level: danger, reason: "find deletes files.", pattern: "find -delete"}
	root, tests := false, false
	for i := 0; i < len(c.args); i++ {
		arg := c.args[i]
		switch {
		case !arg.option():
			root = root || rootLevel(arg)
		case strings.Contains(" -delete -depth -xdev -mount -follow -L -P -H ", " "+arg.text+" "):
		case strings.Contains(" -mindepth -maxdepth -type ", " "+arg.text+" "):
			i++
		default:
			tests = true
		}
	}
	if root && !tests {
		return finding{level: forbidden, reason: "find would delete a whole system folder.", pattern: "find / -delete"}
	}
	return own
}
