package wasm

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/capability"
	"github.com/fastreact/fastreact/sdk"
)

// swapping makes a folder with a path "shown" that is now a folder, now a link to the outside, while use runs.
func swapping(t *testing.T, use func(w string) map[string]int) map[string]int {
	t.Helper()
	_, w := layOut(t)
	at := func(name string) string { return filepath.Join(w, name) }
	err := errors.Join(
		os.Mkdir(at("real"), 0o700), os.WriteFile(at("real/secret.txt"), []byte("inside"), 0o600), os.Symlink("..", at("link")),
	)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			for _, name := range []string{"real", "link"} {
				_ = os.Rename(at(name), at("shown"))
				_ = os.Rename(at("shown"), at(name))
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	defer swapper.Wait()
	defer close(stop)
	return use(w)
}

// raceOpens is how often the race is run: as CI has time for, or with make soak 100,000 times.
func raceOpens() int {
	if os.Getenv("FASTREACT_SOAK") != "" {
		return 100_000
	}
	return 4000
}

// TestNoOpenInARaceLeadsOutside opens one path thousands of times while its folder is swapped for a link to the
// outside. The same race over the sandbox's own mount is the control.
func TestNoOpenInARaceLeadsOutside(t *testing.T) {
	module, err := goGuests.attack()
	if err != nil {
		t.Fatal(err)
	}
	plugin := load(t, newHost(t, Config{CacheDir: goGuests.cacheDir}), Module{
		Bytes:  module,
		Grants: sdk.Capabilities{Files: []sdk.FileAccess{{Path: "workspace", At: "/w", Mode: sdk.ReadWrite}}},
		Limits: sdk.Limits{Wall: sdk.Duration(5 * time.Minute)},
	})
	call := sdk.Call{Tool: "race", Args: fmt.Appendf(nil, `{"opens":%d}`, raceOpens())}
	seen := swapping(t, func(w string) (seen map[string]int) {
		result, err := plugin.Call(t.Context(), CallContext{Workspace: w}, call)
		if err = errors.Join(err, json.Unmarshal(result.Structured, &seen)); err != nil {
			t.Fatal(err)
		}
		return seen
	})
	if seen["outside"] > 0 || seen["inside"]+seen["refused"] != raceOpens() {
		t.Errorf("the guest read %v", seen)
	}
	input, err := encode(call)
	if err != nil {
		t.Fatal(err)
	}
	control := swapping(t, func(w string) map[string]int {
		answer, err := plainMount(t, plugin, w, input)
		var result struct{ Structured map[string]int }
		if err = errors.Join(err, json.Unmarshal(answer, &result)); err != nil {
			t.Fatal(err)
		}
		return result.Structured
	})
	if control["outside"] == 0 {
		t.Errorf("the race is none: over a plain mount the guest read %v", control)
	}
}

func TestNoSpellingOfANameLeadsOutside(t *testing.T) {
	outside, w := layOut(t)
	before := list(t, outside)
	var attempts []struct {
		Name    string
		Reached bool
	}
	if err := json.Unmarshal(callTool(t, goAttack(t, sdk.ReadWrite), w, "names").Structured, &attempts); err != nil {
		t.Fatal(err)
	}
	for _, attempt := range attempts {
		if attempt.Reached {
			t.Errorf("%s was read", attempt.Name)
		}
	}
	if diff := cmp.Diff(before, list(t, outside)); diff != "" || len(attempts) < 25 {
		t.Errorf("%d attempts; the outside changed:\n%s", len(attempts), diff)
	}
}

func TestGuestFillsItsQuotaAndNoMore(t *testing.T) {
	plugin := goAttack(t, sdk.ReadWrite)
	for tool, want := range map[string]string{"fill": "full after 65536 bytes", "litter": "full after 50 names"} {
		w := t.TempDir()
		quotas := capability.NewQuotas(capability.Quota{Bytes: 64 << 10, Files: 50})
		account, release, err := quotas.Open(w)
		if err != nil {
			t.Fatal(err)
		}
		result, err := plugin.Call(t.Context(), CallContext{Workspace: w, Account: account}, sdk.Call{Tool: tool, Args: json.RawMessage(`{}`)})
		if err != nil || !strings.HasPrefix(result.Content, want) {
			t.Errorf("%s: %q, %v; want %q", tool, result.Content, err, want)
		}
		release()
	}
}
