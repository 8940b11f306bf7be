package chaos

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// binary is the program under test with points at which it fails, built once by TestMain; cache holds its modules.
var binary, cache string

func TestMain(m *testing.M) {
	if path := os.Getenv("CHAOS_ORACLE"); path != "" {
		serveTools(path)
		return
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	folder, err := os.MkdirTemp("", "fastreact-chaos-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	binary, cache = filepath.Join(folder, "fastreact"), filepath.Join(folder, "cache")
	build := exec.Command("go", "build", "-tags", "failpoints", "-o", binary, "./cmd/fastreact")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	if err := compileModules(folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := stopCommon(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	return code
}

// TestAProgramThatIsMadeToFailHoldsItsFailpoints: where these marks are not found in a released program, it has none.
func TestAProgramThatIsMadeToFailHoldsItsFailpoints(t *testing.T) {
	marks, err := os.ReadFile("../../../host/internal/failpoint/testdata/marks.txt")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for mark := range strings.Lines(string(marks)) {
		if mark = strings.TrimSpace(mark); !bytes.Contains(program, []byte(mark)) {
			t.Errorf("the program has no %q: whoever looks for it in a released one looks for the wrong thing", mark)
		}
	}
}

// compileModules fills the cache that all nodes share.
func compileModules(folder string) error {
	file := filepath.Join(folder, "warm.yaml")
	if shared := os.Getenv("FASTREACT_TEST_CACHE"); shared != "" {
		cache = shared
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return err
	}
	lock, err := os.Open(cache) // one package compiles for all
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, "plugins: {cache_dir: %q}\n", cache), 0o600); err != nil {
		return err
	}
	check := exec.Command(binary, "policy", "check", "--config", file, "--tool", "exec", "--args", `{"command":"true"}`)
	check.Dir = folder
	if out, err := check.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the modules: %w\n%s", err, out)
	}
	return nil
}
