package host

import (
	"errors"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/wasm"
)

func TestWhatIsShownOfARefusedPluginIsOneBoundedLine(t *testing.T) {
	refused := &refusedPlugin{path: "a.wasm", err: errors.New("no\x1b[2J\n" + strings.Repeat("x", 2*longestReason))}
	if got := refused.reason(); strings.ContainsAny(got, "\x1b\n") || len([]rune(got)) > longestReason {
		t.Errorf("%d characters: %q", len(got), got)
	}
}

func TestWhatAPluginSaidWhileItStartedIsShownToNobody(t *testing.T) {
	trapped := &wasm.Failure{Code: run.PluginTrapped, Plugin: "p", Err: errors.New("secret of the guest")}
	refused := &refusedPlugin{path: "a.wasm", err: errors.Join(trapped)}
	if got := refused.reason(); got != "it cannot be started: plugin_trap; the log says more" {
		t.Errorf("it says %q", got)
	}
}
