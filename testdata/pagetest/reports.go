package pagetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/fastreact/fastreact/testdata/peers"
)

// patience bounds a test program. A machine that is busy takes minutes.
const patience = 8 * time.Minute

// Run runs a test program on a bench and makes each of its reports a test of its own. It wants at least that many.
func Run(t *testing.T, least int, bench, program string, env ...string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	node := exec.CommandContext(ctx, peers.Node(t), program)
	node.Dir = bench
	node.Env = append(os.Environ(), env...)
	var complaints bytes.Buffer
	node.Stderr = &complaints
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	count := readReports(t, out)
	if err := node.Wait(); err != nil {
		t.Errorf("%s: %v\n%s", program, err, complaints.String())
	}
	if count < least {
		t.Errorf("%s reported %d tests, want at least %d\n%s", program, count, least, complaints.String())
	}
}

func readReports(t *testing.T, out io.Reader) (count int) {
	t.Helper()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var report struct {
			Name, Error string
			MS          int
		}
		if err := json.Unmarshal(lines.Bytes(), &report); err != nil {
			t.Errorf("the program said %q", lines.Text())
			continue
		}
		count++
		t.Run(report.Name, func(t *testing.T) {
			t.Logf("%d ms", report.MS)
			if report.Error != "" {
				t.Error(report.Error)
			}
		})
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
	return count
}
