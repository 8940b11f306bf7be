package shell

import (
	"fmt"
	"slices"
	"strings"
)

// absent lists programs that people expect and this shell cannot have, by the reason.
func absent() map[string]string {
	return map[string]string{
		"without network":              "curl wget ssh scp sftp rsync ftp nc ncat netcat telnet ping dig nslookup host ip ifconfig netstat ss traceroute nmap openssl http aws gcloud az",
		"without processes":            "ps top htop pkill killall pgrep pidof strace ltrace gdb lsof fuser screen tmux at crontab systemctl service journalctl docker podman kubectl parallel watch nsenter unshare kill jobs bg fg disown ulimit",
		"without users and privileges": "sudo su doas chown chgrp mount umount chroot useradd usermod passwd login newgrp dd mkfs fdisk mknod mkfifo insmod modprobe sysctl reboot shutdown",
		"that runs no other programs":  "python python2 python3 pip pip3 node npm npx yarn deno bun ruby gem perl php java javac go gcc g++ cc clang make cmake cargo rustc tsc lua R ghc dotnet git svn hg gh apt apt-get dpkg yum dnf rpm apk brew snap psql mysql sqlite3 ffmpeg convert pandoc pdftotext gpg",
		"without a terminal":           "vi vim nvim nano emacs ed man info reset tput stty dialog bind complete compgen history fc suspend enable caller logout",
	}
}

// missing explains why a command that people expect is not there.
func missing(name string) (why string, known bool) {
	for reason, names := range absent() {
		if slices.Contains(strings.Fields(names), name) {
			return fmt.Sprintf("%s: not available: this shell runs inside a sandbox %s", name, reason), true
		}
	}
	return "", false
}
