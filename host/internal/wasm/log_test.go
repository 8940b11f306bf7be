package wasm

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk"
)

func logOf(t *testing.T, level slog.Level, module Module) string {
	t.Helper()
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: level}))
	plugin := load(t, newHost(t, Config{Log: log}), module)
	if err := runAny(t.Context(), plugin); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestLoggedContentShowsAtDebugUnderThePluginsName(t *testing.T) {
	text := logOf(t, slog.LevelDebug, Module{Name: "mine", Bytes: wat(t, "abi/log-writes")})
	if !strings.Contains(text, `plugin=mine`) || !strings.Contains(text, `allow`) {
		t.Errorf("the log says %q", text)
	}
}

func TestLoggedContentIsHiddenAtInfo(t *testing.T) {
	if text := logOf(t, slog.LevelInfo, Module{Bytes: wat(t, "abi/log-writes")}); text != "" {
		t.Errorf("the log says %q", text)
	}
}

func TestLogIsCutAtItsLimitAndSaysSo(t *testing.T) {
	for _, name := range []string{"hostile/log-flood", "hostile/log-lines", "hostile/stderr-flood"} {
		text := logOf(t, slog.LevelDebug, Module{Bytes: wat(t, name), Limits: sdk.Limits{LogBytes: 1000}})
		if len(text) > 8000 || !strings.Contains(text, "cut at its limit") {
			t.Errorf("%s: the log has %d bytes: %.200s", name, len(text), text)
		}
	}
}
