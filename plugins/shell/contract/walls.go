package contract

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk/plugintest"
)

// walls holds the facts about what lies outside the workspace: nothing of it is read or changed.
func walls() []plugintest.Case {
	return []plugintest.Case{
		{Name: "files of the machine are not there", Run: noMachine},
		{Name: "planted links lead nowhere", Run: plantedLinks},
		{Name: "links that are made lead nowhere", Run: madeLinks},
		{Name: "an archive does not leave the folder it is unpacked into", Run: hostileArchive},
		{Name: "a link inside the workspace works", Run: says("mkdir d; echo x > d/f; ln -s d/f l; ln -s /d/f m; ln -s ../d/f d/n; cat l m d/n", "x\nx\nx\n", 0)},
	}
}

const canary = "CANARY-OUTSIDE"

// outside plants a folder beside the workspace that nobody inside may see.
func outside(t *testing.T, plugin *plugintest.Plugin) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"secret.txt", "victim.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(canary), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"file": filepath.Join(dir, "secret.txt"), "dir": dir, "root": "/"} {
		if err := os.Symlink(target, filepath.Join(plugin.Workspace, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// untouched checks that the folder outside is as it was.
func untouched(t *testing.T, dir, command string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%s: outside holds %v (%v)", command, entries, err)
	}
	for _, entry := range entries {
		if data, err := os.ReadFile(filepath.Join(dir, entry.Name())); err != nil || string(data) != canary {
			t.Fatalf("%s: %s holds %q (%v)", command, entry.Name(), data, err)
		}
	}
}

func noMachine(t *testing.T, plugin *plugintest.Plugin) {
	for _, command := range []string{
		"cat /etc/passwd", "cat /proc/self/environ", "cat /proc/1/cmdline", "ls /proc", "ls /etc", "ls /usr", "cat /../../../etc/passwd",
		"cat ../../../../etc/passwd", "head -1 < /etc/passwd", "grep root /etc/passwd", "awk '{print}' /etc/passwd", "sed p /etc/passwd",
		"find /etc /proc /root", "source /etc/profile", "tar cf x.tar /etc/passwd", "cp /etc/passwd p", "cat /dev/mem", "cat /dev/sda",
		"cat /sys/kernel/version", "ln /etc/passwd p && cat p", "jq . /etc/passwd", "xxd /etc/passwd", "cd /etc && ls",
	} {
		got := run(t, plugin, command)
		if strings.Contains(got.Content, "root:") || strings.Contains(got.Content, "PATH=/root") || got.Status == 0 {
			t.Errorf("%s: status %d, %q", command, got.Status, got.Content)
		}
	}
}

func plantedLinks(t *testing.T, plugin *plugintest.Plugin) {
	dir := outside(t, plugin)
	for _, command := range []string{
		"cat file", "cat dir/secret.txt", "cat root" + dir + "/secret.txt", "ls dir", "find -L dir", "grep -r CANARY .", "grep -R CANARY .", "cat < file",
		"echo x > file", "echo x >> dir/victim.txt", "echo x > dir/new", "rm dir/victim.txt", "rm -rf dir/", "mv dir/victim.txt here", "touch dir/secret.txt",
		"cp -r dir copy; cat copy/secret.txt", "cp -rL dir copy", "sed -i s/C/X/ file", "tar cf x.tar dir/secret.txt && tar xOf x.tar", "tar chf y.tar dir && tar xOf y.tar",
		"truncate -s 0 dir/victim.txt", "chmod 777 dir/victim.txt", "ln dir/secret.txt hard; cat hard", "awk 1 file", "awk '{print > \"dir/victim.txt\"}' /dev/stdin <<< x",
		"cd dir && cat secret.txt", "mkdir dir/sub", "xargs cat <<< dir/secret.txt", "readlink file dir root", "gzip -c file | zcat", "split -l1 <(echo x) dir/s", "tee dir/victim.txt <<< x",
		"find dir/ -type f -exec cat {} +", "find dir/ -delete", "diff file /dev/null", "source file", "sort -o dir/victim.txt <<< x", "install -m 777 /dev/null dir/new",
	} {
		got := run(t, plugin, command)
		if strings.Contains(got.Content, canary) || strings.Contains(got.Content, dir) && !strings.Contains(command, dir) {
			t.Errorf("%s: %q", command, got.Content)
		}
		untouched(t, dir, command)
	}
}

func madeLinks(t *testing.T, plugin *plugintest.Plugin) {
	dir := outside(t, plugin)
	up := strings.Repeat("../", 12)
	for _, command := range []string{
		"ln -s " + dir + "/secret.txt a; cat a", "ln -s " + up + dir[1:] + "/secret.txt b; cat b", "ln -s .. c; cat c" + dir + "/secret.txt; ls c",
		"mkdir -p x/y/z; ln -s ../../../secret.txt x/y/z/l; mv x/y/z zz; cat zz/l", "ln -s " + dir + " d; echo x > d/new; ls d",
	} {
		if got := run(t, plugin, command); strings.Contains(got.Content, canary) {
			t.Errorf("%s: %q", command, got.Content)
		}
		untouched(t, dir, command)
	}
}

// hostileArchive unpacks members that climb, are absolute, or go through links.
func hostileArchive(t *testing.T, plugin *plugintest.Plugin) {
	dir := outside(t, plugin)
	var data bytes.Buffer
	w := tar.NewWriter(&data)
	for _, h := range []tar.Header{
		{Name: "../climbed", Typeflag: tar.TypeReg},
		{Name: "a/../../climbed", Typeflag: tar.TypeReg},
		{Name: dir + "/absolute", Typeflag: tar.TypeReg},
		{Name: "out", Typeflag: tar.TypeSymlink, Linkname: dir},
		{Name: "out/through", Typeflag: tar.TypeReg},
		{Name: "up", Typeflag: tar.TypeSymlink, Linkname: "../../.."},
		{Name: "up/through", Typeflag: tar.TypeReg},
		{Name: "hard", Typeflag: tar.TypeLink, Linkname: "../file"},
		{Name: "dev", Typeflag: tar.TypeChar},
		{Name: "pipe", Typeflag: tar.TypeFifo},
		{Name: "good", Typeflag: tar.TypeReg},
	} {
		h.Mode, h.Size = 0o644, 0
		if h.Typeflag == tar.TypeReg {
			h.Size = 1
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(plugin.Workspace, "h.tar"), data.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, plugin, "mkdir sub; tar xf h.tar -C sub; cat sub/good; ls -a /; ls -a sub")
	untouched(t, dir, "tar xf")
	if !strings.Contains(got.Content, "\nx") || strings.Contains(got.Content, "climbed\n") || strings.Contains(got.Content, "\ndev\n") || strings.Contains(got.Content, "\npipe\n") {
		t.Errorf("%s", got.Content)
	}
}
