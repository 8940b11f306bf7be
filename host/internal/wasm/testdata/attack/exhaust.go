package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// race opens one path again and again, while somebody swaps the folder in it for a link to the outside.
func race(args json.RawMessage) map[string]int {
	var asked struct{ Opens int }
	_ = json.Unmarshal(args, &asked)
	seen := map[string]int{}
	for range asked.Opens {
		text, err := os.ReadFile("/w/shown/secret.txt")
		switch {
		case err != nil:
			seen["refused"]++
		case strings.Contains(string(text), "OUTSIDE"):
			seen["outside"]++
		default:
			seen["inside"]++
		}
	}
	return seen
}

// names tries spellings that some systems take for others, to reach a file outside or one that is not named.
func names() []attempt {
	var all []attempt
	for _, name := range []string{
		"/w/..\x00/secret.txt", "/w/own.txt\x00.md", "/w/%2e%2e/secret.txt", "/w/..%2fsecret.txt", "/w/..\\secret.txt",
		"/w/.. /secret.txt", "/w/..../secret.txt", "/w/\u2024\u2024/secret.txt", "/w/\uff0e\uff0e/secret.txt", "/w/..;/secret.txt",
		"/W/../secret.txt", "/w/OWN.TXT", "/w/Own.txt", "/w/own.txt.", "/w/own.txt ", "/w/own.txt::$DATA", "/w/CON",
		"/proc/self/root/etc/passwd", "/proc/self/cwd", "/proc/1/environ", "/dev/null", "/etc/passwd", "/", "//w/../../etc/passwd",
		"/w/../proc/self/root/etc/passwd", "/w/../../../../../../../../etc/passwd", "", "w/../../secret.txt",
	} {
		text, err := os.ReadFile(name)
		all = append(all, attempt{fmt.Sprintf("%q", name), err == nil, string(text)})
	}
	return all
}

// fill writes until the workspace takes no more, and says how much it took.
func fill() error {
	file, err := os.Create("/w/fill")
	if err != nil {
		return err
	}
	block, total := make([]byte, 4096), 0
	for total < 1<<24 {
		n, err := file.Write(block)
		total += n
		if err != nil {
			return errors.Join(fmt.Errorf("full after %d bytes", total), file.Close())
		}
	}
	return file.Close()
}

// litter makes empty files, folders and links until the workspace takes no more.
func litter() error {
	for i := range 10_000 {
		name := fmt.Sprintf("/w/%d", i)
		var err error
		switch i % 3 {
		case 0:
			err = os.WriteFile(name, nil, 0o600)
		case 1:
			err = os.Mkdir(name, 0o700)
		default:
			err = os.Symlink("own.txt", name)
		}
		if err != nil {
			return fmt.Errorf("full after %d names", i)
		}
	}
	return nil
}
