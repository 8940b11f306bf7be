package execguard

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// systemFolders are folders whose loss or change breaks the machine.
const systemFolders = " / /bin /boot /dev /etc /home /lib /lib32 /lib64 /mnt /opt /proc /root /run /sbin /srv /sys /usr /var ~ "

// rootLevel reports whether a word names the root, a system folder, the home folder, or all that is in one.
func rootLevel(w word) bool {
	text := w.text
	if len(text) == 0 || text[0] != '/' && text[0] != '~' {
		return false
	}
	if text[0] == '/' {
		text = path.Clean(text)
	} else {
		text = strings.TrimRight(text, "/")
	}
	for {
		dir, last := path.Split(text)
		if strings.Trim(last, "*?.[]!-"+hole) != "" || last == "" || last == "~" || !everything(last) {
			break
		}
		text = strings.TrimRight(dir, "/")
	}
	if text == "" || strings.HasPrefix(text, "~") && !strings.Contains(text, "/") {
		return true
	}
	return strings.Contains(systemFolders, " "+text+" ")
}

// everything reports whether the last part of a path is a pattern for all there is, such as * or .* or ?*.
func everything(last string) bool {
	return last == "." || last == ".." || strings.ContainsAny(last, "*"+hole)
}

// writesTo judges a file that is written, created or replaced.
func writesTo(w word) finding {
	text := w.text
	if text == "" || strings.HasPrefix(text, hole) {
		return finding{level: danger, reason: "The file that is written is not known before the command runs."}
	}
	if text[0] == '/' {
		text = path.Clean(text)
	}
	switch {
	case strings.HasPrefix(text, "/dev/"):
		return writesToDevice(text)
	case rootLevel(w) || underSystem(text):
		return finding{level: danger, reason: "The command writes into a system folder.", pattern: "write to system folder"}
	case startUp(text):
		return finding{level: danger, reason: "The command writes a file that other programs run or trust.", pattern: "write to start-up file"}
	}
	return finding{level: caution, reason: "The command writes files."}
}

func writesToDevice(text string) finding {
	name := strings.TrimPrefix(text, "/dev/")
	switch {
	case name == "null" || name == "stdout" || name == "stderr" || name == "tty" || name == "zero" || strings.HasPrefix(name, "fd/"):
		return isSafe()
	case strings.HasPrefix(name, "tcp/") || strings.HasPrefix(name, "udp/"):
		return finding{level: danger, reason: "The command opens a network connection.", pattern: "/dev/tcp"}
	case strings.HasPrefix(name, "shm/"):
		return finding{level: caution, reason: "The command writes files."}
	case strings.HasPrefix(name, hole):
		return finding{level: danger, reason: "The device that is written is not known before the command runs."}
	}
	return finding{level: forbidden, reason: "The command writes to a device.", pattern: "write to /dev"}
}

func underSystem(text string) bool {
	for _, folder := range []string{"/bin/", "/boot/", "/etc/", "/lib", "/proc/", "/root/", "/sbin/", "/sys/", "/usr/", "/var/spool/", "/var/lib/"} {
		if strings.HasPrefix(text, folder) {
			return true
		}
	}
	return false
}

// startUp reports whether a path is read by shells, ssh, git or cron to decide what to run or whom to trust.
func startUp(text string) bool {
	for _, part := range []string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile",
		".ssh/", ".git/", ".gitconfig", ".netrc", ".config/", ".aws/", ".gnupg/", "crontab",
	} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// redirect judges one redirection.
func redirect(n *syntax.Redirect) finding {
	target := readOne(n.Word)
	switch n.Op {
	case syntax.RdrIn, syntax.DplIn:
		if strings.HasPrefix(target.text, "/dev/tcp/") || strings.HasPrefix(target.text, "/dev/udp/") {
			return finding{level: danger, reason: "The command opens a network connection.", pattern: "/dev/tcp"}
		}
		return isSafe()
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return isSafe()
	case syntax.DplOut:
		if strings.Trim(target.text, "0123456789-") == "" && target.text != "" {
			return isSafe()
		}
	}
	found := writesTo(target)
	if found.level == forbidden {
		found.pattern = "> /dev/…"
	}
	return found
}
