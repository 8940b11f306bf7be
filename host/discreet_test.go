package host

import (
	"bytes"
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestLogShowsNoSecretInAnyForm(t *testing.T) {
	const secret = `canary "of" plugins/42`
	config := DefaultConfig()
	config.Plugins.Secrets = []SecretConfig{{Name: "token", Value: secret}}
	config.Auth.ServiceToken = "canary-service-token"
	for _, json := range []bool{true, false} {
		var out bytes.Buffer
		writer := Discreet(config, &out)
		handler := slog.Handler(slog.NewTextHandler(writer, nil))
		if json {
			handler = slog.NewJSONHandler(writer, nil)
		}
		slog.New(handler).Info("said "+secret, slog.Any("error", errors.New("in "+secret)),
			slog.String("coded", base64.StdEncoding.EncodeToString([]byte("x"+secret))), slog.String("own", "canary-service-token"))
		if text := out.String(); strings.Contains(text, "canary") || strings.Contains(text, "plugins") || strings.Count(text, redacted) < 4 {
			t.Error(text)
		}
	}
}
