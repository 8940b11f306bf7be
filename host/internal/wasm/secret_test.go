package wasm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/sdk"
)

// allOf writes an error with all that lies in it.
func allOf(err error) string {
	var text strings.Builder
	for ; err != nil; err = errors.Unwrap(err) {
		fmt.Fprintf(&text, "%v\n%+v\n", err, err)
	}
	return text.String()
}

func TestWhatATrappedGuestSaidIsNowhere(t *testing.T) {
	for name, canary := range map[string]string{"abi/log-then-trap": "hunter2"} {
		var text, heard bytes.Buffer
		log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
		plugin := load(t, newHost(t, Config{Log: log}), Module{Name: "mine", Bytes: wat(t, name)})
		_, err := plugin.Exchange(t.Context(), sdk.OpEvaluate, CallContext{Output: &heard}, []byte(`{}`))
		_, last := plugin.Status()
		if all := allOf(err) + last + text.String(); strings.Contains(all, canary) {
			t.Errorf("%s: it stands in %s", name, all)
		}
		if !strings.Contains(text.String(), "bytes=23") {
			t.Errorf("%s: the size of its standard error is not logged: %s", name, text.String())
		}
		if strings.Count(heard.String(), canary) != 2 {
			t.Errorf("%s: its author heard %q", name, heard.String())
		}
	}
}

func TestPanicOfAGoGuestIsNowhere(t *testing.T) {
	module, err := goGuests.policy()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
	plugin := load(t, newHost(t, Config{CacheDir: goGuests.cacheDir, Log: log}), Module{Bytes: module})
	_, err = askAbout(t, plugin, "panic")
	_, last := plugin.Status()
	if all := allOf(err) + last + text.String(); strings.Contains(all, "asked to panic") || strings.Contains(all, "goroutine") {
		t.Errorf("it stands in %s", all)
	}
}

func TestAnswerThatCannotBeReadIsNotQuoted(t *testing.T) {
	for _, answer := range []string{
		`{"action":"hunter2-canary"}`, `{"action":{"hunter2-canary":1}}`, `{"action":"allow"} hunter2-canary`, `{"hunter2-canary`,
		`{"action":"allow","reason":["hunter2-canary"]}`,
	} {
		if _, err := decodeOpinion(json.RawMessage(answer)); err == nil || strings.Contains(allOf(err), "hunter2") {
			t.Errorf("%s: %v", answer, err)
		}
	}
}
