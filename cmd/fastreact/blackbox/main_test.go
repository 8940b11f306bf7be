package blackbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// binary is the program under test and knowledge the example server, built once by TestMain; cache holds the compiled
// modules of all services.
var binary, knowledge, cache string

func TestMain(m *testing.M) {
	if address := os.Getenv("BLACKBOX_CONFORMANCE"); address != "" {
		tellConformance(address)
		return
	}
	if log := os.Getenv("BLACKBOX_TEE_LOG"); log != "" {
		os.Exit(serveTee(log))
	}
	if folder := os.Getenv("BLACKBOX_MCP_LIES"); folder != "" {
		serveLies(folder)
		return
	}
	if folder := os.Getenv("BLACKBOX_MCP_DEEDS"); folder != "" {
		serveDeeds(folder)
		return
	}
	if log := os.Getenv("BLACKBOX_MCP_LOG"); log != "" {
		serveMCP(log)
		return
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	folder, err := os.MkdirTemp("", "fastreact-blackbox-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	binary, knowledge = filepath.Join(folder, "fastreact"), filepath.Join(folder, "pska-kb")
	for target, pkg := range map[string]string{binary: "./cmd/fastreact", knowledge: "./examples/pska-kb"} {
		build := exec.Command("go", "build", "-o", target, pkg)
		build.Dir = "../../.."
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n%s", pkg, err, out)
			return 1
		}
	}
	if err := compileModules(folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer shared.stop()
	return m.Run()
}

// compileModules fills the cache that all services share: two tests at once need not compile the same large modules
// while their clocks run. A dry run compiles them all, and does nothing else.
func compileModules(folder string) error {
	file := filepath.Join(folder, "warm.yaml")
	cache = filepath.Join(folder, "wasm-cache")
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
	if err := os.WriteFile(file, fmt.Appendf(nil, "plugins: {cache_dir: %q}\nagent_tools: {addr: \"127.0.0.1:0\"}\n", cache), 0o600); err != nil {
		return err
	}
	check := exec.Command(binary, "policy", "check", "--config", file, "--tool", "exec", "--args", `{"command":"true"}`)
	check.Dir = folder
	if out, err := check.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the modules: %w\n%s", err, out)
	}
	return nil
}
