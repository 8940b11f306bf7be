package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fastreact/fastreact/sdk/build"
	"github.com/fastreact/fastreact/sdk/client"
)

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

// buildAndRun puts the program on PATH as people get it: the race detector would make it compile plugins for minutes.
func buildAndRun(m *testing.M) int {
	folder, err := os.MkdirTemp("", "fastreact-scripts-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	build := exec.Command("go", "build", "-o", filepath.Join(folder, "fastreact"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	if err := os.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// TestScripts runs the program as a person does: each script is a command line, and what must be read there.
func TestScripts(t *testing.T) {
	vectors, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	goCache, err := goCache()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("VECTORS", vectors)
			env.Setenv("GOCACHE", goCache)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve": serveInScript, "pending": pendingInScript, "json": jsonInScript, "exits": exitsInScript,
			"append-manifest": manifestInScript,
		},
	})
}

// goCache is where builds in scripts, which have no home, find what was built before.
func goCache() (string, error) {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	return strings.TrimSpace(string(out)), err
}

var listens = regexp.MustCompile(`listens on (http://\S+)`)

// serveInScript starts a service with the given flags and waits for its address, which becomes $URL.
func serveInScript(ts *testscript.TestScript, _ bool, args []string) {
	service := exec.Command("fastreact", append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	service.Dir = ts.MkAbs(".")
	service.Env = append(os.Environ(), "FASTREACT_SERVICE_TOKEN="+ts.Getenv("FASTREACT_SERVICE_TOKEN"))
	output, err := service.StderrPipe()
	ts.Check(err)
	ts.Check(service.Start())
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if found := listens.FindStringSubmatch(lines.Text()); found != nil {
			ts.Setenv("URL", found[1])
			break
		}
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for lines.Scan() { // what a service logs must never block it
		}
	}()
	ts.Defer(func() {
		_ = service.Process.Signal(syscall.SIGTERM)
		<-drained
		if err := service.Wait(); err != nil {
			ts.Logf("the service ended with %v", err)
		}
	})
	if ts.Getenv("URL") == "" {
		ts.Fatalf("the service does not start")
	}
}

// pendingInScript waits until a call waits for a person; its id becomes $APPROVAL, its run $RUN.
func pendingInScript(ts *testscript.TestScript, _ bool, _ []string) {
	service, err := client.New(client.Config{URL: ts.Getenv("URL")})
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		waiting, err := service.Approvals(ctx, client.ApprovalsQuery{Status: "pending", Limit: 1})
		ts.Check(err)
		if len(waiting.Items) > 0 {
			ts.Setenv("APPROVAL", waiting.Items[0].ID)
			ts.Setenv("RUN", waiting.Items[0].RunID)
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			ts.Fatalf("no call waits for a person")
		}
	}
}

// jsonInScript fails unless a file, such as stdout, is one JSON object with the keys.
func jsonInScript(ts *testscript.TestScript, _ bool, args []string) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &object); err != nil {
		ts.Fatalf("%s is no JSON object: %v", args[0], err)
	}
	for _, key := range args[1:] {
		if _, there := object[key]; !there {
			ts.Fatalf("%s has no key %s", args[0], key)
		}
	}
}

// exitsInScript runs a command that must end with the exit code.
func exitsInScript(ts *testscript.TestScript, _ bool, args []string) {
	var ended *exec.ExitError
	err := ts.Exec(args[1], args[2:]...)
	if !errors.As(err, &ended) || strconv.Itoa(ended.ExitCode()) != args[0] {
		ts.Fatalf("it ended with %v, want exit code %s", err, args[0])
	}
}

// manifestInScript writes a module with another manifest: module, manifest, output.
func manifestInScript(ts *testscript.TestScript, _ bool, args []string) {
	built, err := build.AppendManifest([]byte(ts.ReadFile(args[0])), []byte(ts.ReadFile(args[1])))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), built, 0o600))
}
