package chaos

import (
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fastreact/fastreact/testdata/peers"
)

// disk is what a power cut leaves of files: of each, the bytes that were written before a sync began which came to its
// end.
type disk struct {
	kept    map[string][]byte
	pending map[string][]written // by file, since its last sync
	syncing map[string]syncCall  // by thread
	dropped int                  // bytes that no sync covered
}

type written struct {
	at   int64
	data []byte
}

// syncCall is one that is under way: it covers so many of the file's pending writes.
type syncCall struct {
	file   string
	covers int
}

var (
	wrote     = regexp.MustCompile(`^(\d+) +pwrite64\(\d+<([^>]*)>, "([^"]*)", \d+, (\d+)`)
	truncated = regexp.MustCompile(`^(\d+) +ftruncate\(\d+<([^>]*)>, (\d+)`)
	unlinked  = regexp.MustCompile(`^(\d+) +unlink(?:at\([^,]*, |\()"([^"]*)"`)
	synced    = regexp.MustCompile(`^(\d+) +f(?:data)?sync\(\d+<([^>]*)>(.*)`)
	resumed   = regexp.MustCompile(`^(\d+) +<\.\.\. f(?:data)?sync resumed>.* = 0`)
)

// replay reads what strace saw of a program that writes to files, up to its end. A disk that lies keeps nothing of the
// second half.
func replay(t *testing.T, trace string, lies bool) *disk {
	t.Helper()
	raw, err := os.ReadFile(trace)
	if err != nil {
		t.Error(err)
	}
	all := strings.Split(string(raw), "\n")
	if lies {
		all = all[:len(all)/2]
	}
	d := &disk{kept: map[string][]byte{}, pending: map[string][]written{}, syncing: map[string]syncCall{}}
	for _, line := range all {
		d.see(line)
	}
	for _, all := range d.pending {
		for _, one := range all {
			d.dropped += len(one.data)
		}
	}
	return d
}

// see takes one line of the trace.
func (d *disk) see(line string) {
	if m := wrote.FindStringSubmatch(line); m != nil {
		at, _ := strconv.ParseInt(m[4], 10, 64)
		name := unhex(m[2])
		d.pending[name] = append(d.pending[name], written{at, []byte(unhex(m[3]))})
	} else if m := truncated.FindStringSubmatch(line); m != nil {
		size, _ := strconv.Atoi(m[3])
		name := unhex(m[2])
		d.kept[name] = append(d.kept[name], make([]byte, max(0, size-len(d.kept[name])))...)[:size]
	} else if m := unlinked.FindStringSubmatch(line); m != nil {
		delete(d.kept, unhex(m[2]))
		delete(d.pending, unhex(m[2]))
	} else if m := synced.FindStringSubmatch(line); m != nil {
		name := unhex(m[2])
		d.syncing[m[1]] = syncCall{name, len(d.pending[name])}
		if strings.HasSuffix(m[3], "= 0") {
			d.end(m[1])
		}
	} else if m := resumed.FindStringSubmatch(line); m != nil {
		d.end(m[1])
	}
}

// end keeps what a thread's sync covers.
func (d *disk) end(thread string) {
	s, ok := d.syncing[thread]
	if !ok {
		return
	}
	delete(d.syncing, thread)
	covers := min(s.covers, len(d.pending[s.file]))
	content := d.kept[s.file]
	for _, one := range d.pending[s.file][:covers] {
		end := int(one.at) + len(one.data)
		content = append(content, make([]byte, max(0, end-len(content)))...)
		copy(content[one.at:], one.data)
	}
	d.kept[s.file], d.pending[s.file] = content, d.pending[s.file][covers:]
	for thread, other := range d.syncing {
		if other.file == s.file {
			other.covers = max(0, other.covers-covers)
			d.syncing[thread] = other
		}
	}
}

// unhex reads a text of strace in which every byte is \x and two digits.
func unhex(text string) string {
	raw, err := hex.DecodeString(strings.ReplaceAll(text, `\x`, ""))
	if err != nil {
		return text
	}
	return string(raw)
}

// TestAPowerCutLosesNothingThatWasSeen ends the program and gives the next one only what it had synced. Where more is
// asked for, it shows that the power cut is one: had syncs done nothing for a while, the suite would say so.
func TestAPowerCutLosesNothingThatWasSeen(t *testing.T) {
	t.Parallel()
	t.Run("a disk that keeps what it said it keeps", func(t *testing.T) {
		w := emptyWorld(t, 13, sqlite{}, "")
		w.publish(w.storm(1, w.powerCut(t, false)))
		w.tell()
	})
	if bounded(t) {
		return
	}
	t.Run("a disk that lies is found out", func(t *testing.T) {
		w := emptyWorld(t, 13, sqlite{}, "")
		w.calm = 5 * time.Second
		w.publish(w.storm(1, w.powerCut(t, true)))
		w.expect("seen", "lost run")
	})
}

// powerCut starts a node on an empty store under the eyes of strace, lets it work, and cuts its power.
func (w *world) powerCut(t *testing.T, lies bool) func(context.Context, int) {
	peers.Need(t, "strace")
	n, base, trace := w.nodes[0], sqliteFile(w), filepath.Join(w.folder, "trace")
	n.before = []string{
		"strace", "-D", "-f", "--seccomp-bpf", "-qq", "-y", "-xx", "-s", "8388608", "-o", trace, "-e", "signal=none",
		"-e", "trace=pwrite64,fsync,fdatasync,ftruncate,unlink,unlinkat", "-P", base, "-P", base + "-wal", "-P", base + "-journal",
	}
	w.begin(n)
	return func(ctx context.Context, _ int) {
		for range 12 {
			w.launchOne(ctx, "charge", "look", "charge")
		}
		pause(ctx, 1200*time.Millisecond)
		w.fault("the power is cut")
		n.kill()
		w.restore(t, replayed{trace, lies})
		n.before = nil
		w.revive(ctx, n)
	}
}

// replayed is a trace, and whether the disk lied.
type replayed struct {
	trace string
	lies  bool
}

// restore puts what a power cut left in place of the files, when the tracer has written everything down.
func (w *world) restore(t *testing.T, from replayed) {
	for len(w.left()) > 0 {
		pause(context.Background(), 20*time.Millisecond)
	}
	left := replay(t, from.trace, from.lies)
	if err := removeAll(sqliteFile(w)); err != nil {
		t.Error(err)
	}
	for name, content := range left.kept {
		w.fault("%s keeps %d bytes", filepath.Base(name), len(content))
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Error(err)
		}
	}
	if len(left.kept[sqliteFile(w)]) == 0 {
		t.Error("nothing is left of the file: the trace was not understood")
	}
	w.fault("%d bytes were never synced", left.dropped)
}

// removeAll removes a database with the files beside it.
func removeAll(base string) error {
	for _, name := range []string{base, base + "-wal", base + "-shm", base + "-journal"} {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}
