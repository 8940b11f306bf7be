package chaos

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// lockedBuffer collects what the program prints.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// node is one place where the program runs, again and again.
type node struct {
	w      *world
	name   string
	config string
	env    []string // of every process of it
	before []string // a program that runs it, with its arguments

	mu      sync.Mutex
	command *exec.Cmd
	output  *lockedBuffer
	ended   chan struct{} // closed when the process is gone
	url     string        // empty while it is not up
	owner   string        // the incarnation's name, where the node tells it
	wanted  bool          // its end is no surprise
}

var listens = regexp.MustCompile(` listens on (http://127\.0\.0\.1:\d+)`)

// start runs the program with more in its environment, and reports whether it answers before it ends.
func (n *node) start(env ...string) bool {
	output, ended := &lockedBuffer{}, make(chan struct{})
	argv := append(append([]string{}, n.before...), binary, "serve", "--config", n.config)
	command := exec.Command(argv[0], argv[1:]...)
	command.Dir = n.w.folder
	command.Env = append(append(append(os.Environ(), n.w.marks()...), n.env...), env...)
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		n.w.violate("harness", "start %s: %v", n.name, err)
		return false
	}
	n.mu.Lock()
	n.command, n.output, n.ended, n.url, n.owner, n.wanted = command, output, ended, "", "", false
	n.mu.Unlock()
	go func() {
		_ = command.Wait()
		n.mu.Lock()
		if n.command == command {
			n.url = ""
		}
		n.mu.Unlock()
		close(ended)
	}()
	return n.awaitHealth(output, ended)
}

func (n *node) awaitHealth(output *lockedBuffer, ended chan struct{}) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(60 * time.Second)
	for {
		select {
		case <-ended:
			return false
		case <-limit:
			n.w.violate("harness", "%s does not answer:\n%s", n.name, output)
			return false
		case <-tick.C:
		}
		said := listens.FindStringSubmatch(output.String())
		if said == nil {
			continue
		}
		if response, err := n.w.client.Get(said[1] + "/health"); err == nil {
			response.Body.Close()
			n.mu.Lock()
			n.url = said[1]
			n.mu.Unlock()
			n.learnOwner(said[1])
			return true
		}
	}
}

// learnOwner asks the node which incarnation it is.
func (n *node) learnOwner(url string) {
	response, err := n.w.client.Get(url + "/ready")
	if err != nil {
		return
	}
	defer response.Body.Close()
	var ready struct {
		Store struct {
			Nodes []struct {
				Incarnation string `json:"incarnation"`
				Self        bool   `json:"self"`
			} `json:"nodes"`
		} `json:"store"`
	}
	if response.StatusCode != http.StatusOK || json.NewDecoder(response.Body).Decode(&ready) != nil {
		return
	}
	for _, one := range ready.Store.Nodes {
		if one.Self {
			n.mu.Lock()
			n.owner = one.Incarnation
			n.mu.Unlock()
		}
	}
}

// signal sends a signal to the process, and notes that its end is wanted where the signal is one that ends it.
func (n *node) signal(s syscall.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s == syscall.SIGKILL || s == syscall.SIGTERM {
		n.wanted = true
	}
	if n.command != nil {
		_ = n.command.Process.Signal(s)
	}
}

// kill is kill -9, and waits until the process is gone.
func (n *node) kill() {
	n.signal(syscall.SIGKILL)
	<-n.gone()
}

// gone returns a channel that is closed when the present process is gone.
func (n *node) gone() chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ended
}

// now returns where the node answers, and which incarnation it is; both empty when it is not up.
func (n *node) now() (url, owner string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.url, n.owner
}

// metric reads a counter of a node; 0 when it has none.
func (w *world) metric(n *node, name string) float64 {
	url, _ := n.now()
	response, err := w.client.Get(url + "/metrics")
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			value, _ := strconv.ParseFloat(rest, 64)
			return value
		}
	}
	return 0
}

// last returns the end of what the present process printed.
func (n *node) last() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.output == nil {
		return ""
	}
	text := n.output.String()
	return fmt.Sprintf("--- %s ---\n%s", n.name, text[max(0, len(text)-4000):])
}

// left lists the processes that carry the world's mark in their environment.
func (w *world) left() []string {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var all []string
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(raw, []byte(w.mark()+"\x00")) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		all = append(all, file+" "+strings.ReplaceAll(string(line), "\x00", " "))
	}
	return all
}
