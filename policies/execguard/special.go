package execguard

import "strings"

// special returns the rule of a command whose arguments decide, or nil.
func special(name string) rule {
	switch name {
	case "rm":
		return remove
	case "chmod", "chown", "chgrp":
		return changeMode
	case "dd":
		return diskDump
	case "kill":
		return kill
	case "find":
		return findFiles
	case "sed", "gsed":
		return sed
	case "awk", "gawk", "mawk", "nawk", "original-awk":
		return awk
	case "eval":
		return eval
	case "source", ".":
		return source
	case "watch", "parallel", "trap", "alias":
		return quoted
	case "mke2fs", "mkswap", "wipefs", "blkdiscard":
		return formats
	}
	if isShell(name) {
		return shell
	}
	if isInterpreter(name) {
		return interpreter
	}
	return specialFiles(name)
}

// specialFiles is special for commands about files, disks and settings.
func specialFiles(name string) rule {
	switch name {
	case "cp":
		return copyFiles
	case "mv":
		return moveFiles
	case "tar":
		return archive
	case "tee":
		return tee
	case "shred":
		return shred
	case "curl", "wget":
		return download
	case "crontab":
		return crontab
	case "mount":
		return mount
	case "date":
		return date
	case "sysctl":
		return sysctl
	case "enable":
		return enable
	case "uniq":
		return withOperands(2, caution, "uniq writes its second file")
	case "hostname":
		return withOperands(1, danger, "hostname renames the machine")
	case "ifconfig":
		return withOperands(2, danger, "ifconfig changes the network")
	case "su", "runuser":
		return switchUser
	}
	return nil
}

// withOperands is the rule of commands that read until they get that many operands.
func withOperands(count int, l level, effect string) rule {
	return func(_ *judge, c call) finding {
		if len(c.operands("-f", "-s", "-w")) >= count {
			return finding{level: l, reason: effect + ".", pattern: c.name}
		}
		return isSafe()
	}
}

// switchUser judges su: the command it is given counts as well.
func switchUser(j *judge, c call) finding {
	own := finding{level: danger, reason: c.name + " runs commands as another user.", pattern: c.name}
	for i, arg := range c.args {
		if i+1 < len(c.args) && (arg.is("-c") || arg.is("--command")) && c.args[i+1].known() {
			own = own.or(j.program(c.args[i+1].text))
		}
	}
	return own
}

// remove judges rm. Deleting everything is forbidden however it is spelled.
func remove(j *judge, c call) finding {
	own := finding{level: danger, reason: "rm deletes files.", pattern: "rm"}
	recursive := c.has("-r", "-R", "--recursive") || c.unsure()
	if !recursive {
		return own
	}
	never := finding{level: forbidden, reason: "rm would delete a system folder, the home folder or everything.", pattern: "rm -r /"}
	if c.has("--no-preserve-root") {
		return never
	}
	for _, operand := range c.operands() {
		here := strings.Trim(operand.text, "./*?") == "" && operand.text != ""
		if rootLevel(operand) || j.atRoot && here {
			return never
		}
	}
	return own
}

// changeMode judges chmod, chown and chgrp.
func changeMode(_ *judge, c call) finding {
	own := finding{level: caution, reason: c.name + " changes who may use files."}
	operands := c.operands()
	for i, operand := range operands {
		switch {
		case i > 0 && rootLevel(operand) && c.has("-R", "--recursive"):
			return finding{level: forbidden, reason: c.name + " would change the rights of a whole system.", pattern: c.name + " -R /"}
		case i > 0 && (rootLevel(operand) || underSystem(operand.text)):
			own = own.atLeast(danger, c.name+" changes the rights of a system file.")
		case i == 0 && c.name == "chmod" && opensUp(operand.text):
			own = own.atLeast(danger, "chmod opens files to everybody or lets them run with other rights.")
		}
	}
	if c.has("-R", "--recursive") {
		own = own.atLeast(danger, c.name+" changes the rights of a whole folder.")
	}
	return own
}

// opensUp reports whether a mode lets others write, or sets a set-user-id bit.
func opensUp(mode string) bool {
	if strings.Trim(mode, "01234567") == "" && mode != "" {
		last := mode[len(mode)-1]
		return last == '2' || last == '3' || last == '6' || last == '7' || len(mode) > 3 && mode[0] != '0'
	}
	for _, clause := range strings.Split(mode, ",") {
		who, what, _ := strings.Cut(strings.ReplaceAll(clause, "=", "+"), "+")
		if strings.Contains(what, "s") || strings.Contains(what, "w") && (who == "" || strings.ContainsAny(who, "oa")) {
			return true
		}
	}
	return false
}

func diskDump(_ *judge, c call) finding {
	own := finding{level: caution, reason: "dd copies bytes."}
	for _, arg := range c.args {
		target, writes := strings.CutPrefix(arg.text, "of=")
		if !writes {
			continue
		}
		found := writesTo(word{text: target, glob: arg.glob, split: arg.split})
		if found.level == forbidden {
			found.pattern = "dd of=/dev/…"
		}
		if found.level > safe {
			own = own.or(found).atLeast(danger, "dd overwrites a file.")
		}
	}
	return own
}

func kill(_ *judge, c call) finding {
	if len(c.args) == 0 || c.args[0].text == "-0" || c.args[0].text == "-l" || c.args[0].text == "-L" {
		return isSafe()
	}
	for i, arg := range c.args {
		if arg.text == "-1" && i > 0 {
			return finding{level: forbidden, reason: "kill would end every program.", pattern: "kill -1"}
		}
	}
	return finding{level: danger, reason: "kill ends other programs.", pattern: "kill"}
}

func copyFiles(_ *judge, c call) finding {
	own := finding{level: caution, reason: c.name + " writes files."}
	for _, arg := range c.args {
		if _, folder, found := strings.Cut(arg.text, "--target-directory="); found {
			own = own.or(writesTo(word{text: folder}))
		}
	}
	for i, arg := range c.args {
		if arg.text == "-t" && i+1 < len(c.args) {
			own = own.or(writesTo(c.args[i+1]))
		}
	}
	if operands := c.operands(); len(operands) > 1 {
		own = own.or(intoKnown(operands[len(operands)-1]))
	}
	return own
}

// intoKnown judges a destination. One that is not known yet is left at caution: it is an operand, not a device.
func intoKnown(w word) finding {
	if strings.HasPrefix(w.text, hole) {
		return finding{level: caution, reason: "The command writes files."}
	}
	return writesTo(w)
}

func moveFiles(j *judge, c call) finding {
	own := copyFiles(j, c)
	operands := c.operands()
	for i, operand := range operands {
		last := i == len(operands)-1
		switch {
		case !last && rootLevel(operand):
			return finding{level: forbidden, reason: "mv would move a system folder, the home folder or everything.", pattern: "mv /"}
		case !last && underSystem(operand.text):
			own = own.atLeast(danger, "mv moves a system file.")
		case last && operand.text == "/dev/null":
			own = own.atLeast(danger, "mv deletes files by moving them away.")
		}
	}
	return own
}

func archive(_ *judge, c call) finding {
	own := finding{level: caution, reason: "tar writes files."}
	if len(c.args) > 0 && (c.has("--list") || strings.Contains(c.args[0].text, "t") && !strings.ContainsAny(c.args[0].text, "=xcruA/.")) {
		own = isSafe()
	}
	for i, arg := range c.args {
		if arg.text == "-C" && i+1 < len(c.args) && own.level > safe {
			own = own.or(intoKnown(c.args[i+1]))
		}
	}
	return own
}

func formats(_ *judge, c call) finding {
	return finding{level: forbidden, reason: c.name + " erases a disk.", pattern: c.name}
}

func shred(_ *judge, c call) finding {
	own := finding{level: danger, reason: "shred deletes files beyond recovery.", pattern: "shred"}
	for _, operand := range c.operands("-n", "-s") {
		if found := writesTo(operand); found.level == forbidden {
			return found
		}
	}
	return own
}

func crontab(_ *judge, c call) finding {
	if len(c.args) > 0 && c.args[len(c.args)-1].text == "-l" && !c.has("-r", "-e") {
		return isSafe()
	}
	return finding{level: danger, reason: "crontab changes what runs later.", pattern: "crontab"}
}

func mount(_ *judge, c call) finding {
	if len(c.args) == 0 || c.args[0].text == "-l" && len(c.args) == 1 {
		return isSafe()
	}
	return finding{level: danger, reason: "mount changes what folders show.", pattern: "mount"}
}

func date(_ *judge, c call) finding {
	for _, arg := range c.args {
		if strings.HasPrefix(arg.text, "-s") || arg.text == "-us" {
			return finding{level: danger, reason: "date sets the clock.", pattern: "date -s"}
		}
	}
	return isSafe()
}

func sysctl(_ *judge, c call) finding {
	for _, arg := range c.args {
		if arg.is("-w") || arg.is("-p") || arg.is("--write") || arg.is("--load") || strings.Contains(arg.text, "=") || !arg.known() {
			return finding{level: danger, reason: "sysctl changes the kernel.", pattern: "sysctl -w"}
		}
	}
	return isSafe()
}

func enable(_ *judge, c call) finding {
	if len(c.args) == 0 {
		return isSafe()
	}
	return finding{level: danger, reason: "enable changes what the shell's own commands are.", pattern: "enable"}
}

// download judges curl and wget: reading from the network, and a file when they are told to write one.
func download(_ *judge, c call) finding {
	own := finding{level: caution, reason: c.name + " reads from the network."}
	for i, arg := range c.args {
		if i+1 < len(c.args) && (arg.text == "-o" || arg.text == "-O" && c.name == "wget" || arg.text == "--output") && c.args[i+1].text != "-" {
			own = own.or(intoKnown(c.args[i+1]))
		}
	}
	return own
}
