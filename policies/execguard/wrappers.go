package execguard

import (
	"slices"
	"strings"
)

// wrapper is a command that runs the command in its arguments.
type wrapper struct {
	level      level    // of the wrapper itself
	operands   int      // words of its own before the command
	flags      string   // letters of options without a value
	withValues []string // options whose value is the next word
}

// wrappers lists them: name, level, operands of its own, letters of options without a value (- for none), options
// with values.
const wrappers = `
	builtin safe 0 -
	busybox safe 0 -
	chroot danger 1 - --userspec --groups
	chrt caution 1 abfiormv -T -P -D
	command safe 0 pvV
	doas danger 0 nsL -u -C
	env safe 0 i0v -u --unset -C --chdir
	exec safe 0 cl -a
	flock caution 1 nsxuoF -w --timeout -E
	ionice safe 0 t -c --class -n --classdata -p
	ltrace caution 0 fcSt -o -e -p -s
	nice safe 0 - -n --adjustment
	nohup caution 0 -
	nsenter danger 0 amuinpCUT -t -S -G
	setarch safe 1 R
	setsid caution 0 cfw
	stdbuf safe 0 - -i --input -o --output -e --error
	strace caution 0 fcqtvy -o -e -p -s
	sudo danger 0 AbEHnPSskKlvVi -u --user -g --group -h --host -p --prompt -C -D --chdir -r -t -T -U
	taskset safe 1 ac
	time safe 0 apvq -f --format -o --output
	timeout safe 1 fpv -s --signal -k --kill-after
	toybox safe 0 -
	unbuffer safe 0 p
	unshare danger 0 muinpfUrT
	xargs safe 0 0rtpxoie -I -n --max-args -P --max-procs -L --max-lines -d --delimiter -a --arg-file -s --max-chars -E --replace-str
`

// longFlags are long options of wrappers that have no value.
const longFlags = ` --null --no-run-if-empty --verbose --interactive --preserve-status --foreground --ignore-environment --exit
	--preserve-env --non-interactive --login --background --append --portability --open-tty --wait --fork --ctty `

func wrapperNamed(name string) (wrapper, bool) {
	for fields := range rowsOf(wrappers, name) {
		return wrapper{
			level: levelNamed(fields[0]), operands: int(fields[1][0] - '0'), flags: fields[2], withValues: fields[3:],
		}, true
	}
	return wrapper{}, false
}

// judge judges the wrapper and what it runs. The worst counts.
func (w wrapper) judge(j *judge, c call) finding {
	own := finding{level: w.level, reason: c.name + " runs another command."}
	if w.level == danger {
		own = finding{level: danger, reason: c.name + " runs a command with other rights.", pattern: c.name}
	}
	if (c.name == "command" || c.name == "builtin") && c.has("-v", "-V") {
		return isSafe()
	}
	if c.name == "env" && c.has("-S", "--split-string") {
		return finding{level: danger, reason: "env runs a text as a command.", pattern: "env -S"}
	}
	if c.name == "time" && c.has("-o", "--output") {
		own = own.atLeast(caution, "time writes a file.")
	}
	inner, found, doubtful := w.inner(c)
	own = own.or(found)
	if len(inner) == 0 {
		return own
	}
	if c.name == "xargs" {
		inner = c.fill(inner)
	}
	own = own.or(j.command(inner))
	for len(inner) > 1 && doubtful {
		inner = inner[1:]
		if first := inner[0]; first.known() && first.text != "" && !first.option() {
			own = own.or(j.command(inner))
		}
	}
	return own
}

// inner finds where the inner command begins. After an option that the table does not know it is in doubt: the
// option may have a value or not, so every later word may be the command, and the worst of them counts.
func (w wrapper) inner(c call) (inner []word, found finding, doubtful bool) {
	found = isSafe()
	rest := c.args
	for len(rest) > 0 {
		arg := rest[0]
		name, _, assigned := strings.Cut(arg.text, "=")
		switch {
		case arg.text == "--":
			rest = rest[1:]
			return rest[min(w.operands, len(rest)):], found, doubtful
		case arg.takesNext(w.withValues):
			rest = rest[min(2, len(rest)):]
		case arg.text == "-" && c.name == "env":
			rest = rest[1:]
		case arg.option():
			doubtful = doubtful || !w.knows(arg.text)
			rest = rest[1:]
		case assigned && (c.name == "env" || c.name == "sudo" || c.name == "doas"):
			found = found.or(variable(name))
			rest = rest[1:]
		default:
			return rest[min(w.operands, len(rest)):], found, doubtful
		}
	}
	return nil, found, doubtful
}

// knows reports whether an option surely has no value in the next word.
func (w wrapper) knows(option string) bool {
	if strings.HasPrefix(option, "--") {
		return strings.Contains(option, "=") || strings.Contains(longFlags, " "+option+" ")
	}
	for _, known := range w.withValues {
		if strings.HasPrefix(option, known) {
			return true
		}
	}
	letters := strings.TrimLeft(option, "-0123456789")
	return strings.Trim(letters, w.flags) == ""
}

// fill adds what xargs adds: words nobody knows beforehand, at the end or in place of a marker.
func (c call) fill(inner []word) []word {
	markers := []string{"{}"}
	for i, arg := range c.args {
		if (arg.text == "-I" || arg.text == "--replace-str") && i+1 < len(c.args) {
			markers = append(markers, c.args[i+1].text)
		} else if strings.HasPrefix(arg.text, "-I") || strings.HasPrefix(arg.text, "-i") {
			markers = append(markers, arg.text[2:])
		}
	}
	return append(withHoles(inner, markers), word{text: hole, split: true})
}

// withHoles puts a hole in place of every marker.
func withHoles(given []word, markers []string) []word {
	filled := slices.Clone(given)
	for i := range filled {
		for _, marker := range markers {
			if marker != "" && strings.Contains(filled[i].text, marker) {
				filled[i].text = strings.ReplaceAll(filled[i].text, marker, hole)
			}
		}
	}
	return filled
}
