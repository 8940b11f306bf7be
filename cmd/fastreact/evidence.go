package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"

	"github.com/fastreact/fastreact/host"
	"github.com/fastreact/fastreact/plugins/evidence"
)

// newEvidence sets the evidence tools up. They reach what the configuration names and nothing else; what it does not
// name answers that it is unavailable.
func newEvidence(config host.Config, out *host.Egress, log *slog.Logger) (*evidence.Plugin, error) {
	chat := config.Harness.Chat
	roots, err := absolute(chat.Evidence.Logs.Roots)
	if err != nil {
		return nil, err
	}
	metrics := evidence.Metrics{URL: chat.Evidence.Prometheus.URL}
	if metrics.URL != "" {
		way, err := out.Prometheus(chat.Evidence.Prometheus)
		if err != nil {
			return nil, fmt.Errorf("set up evidence: %w", err)
		}
		metrics.Client = &http.Client{Transport: way}
	}
	databases := map[string]evidence.Datasource{}
	for name, source := range chat.Evidence.MySQL.Datasources {
		databases[name] = evidence.Datasource{DSN: source.DSN.Reveal(), RequireReadOnly: source.RequireReadOnly}
	}
	limits := evidenceLimits(chat)
	return evidence.New(evidence.Config{
		Metrics: metrics, Logs: evidence.Logs{Roots: roots}, MySQL: databases, Limits: limits, Log: log,
	})
}

// evidenceLimits bounds one call. It ends before the gate would end it, so that its own words are heard.
func evidenceLimits(chat host.ChatHarnessConfig) evidence.Limits {
	limits := chat.Evidence.Limits
	return evidence.Limits{
		Timeout: chat.Tool.Timeout * 3 / 4, AnswerBytes: chat.Canonical.MaxItemBytes, ExcerptBytes: limits.ExcerptBytes,
		Series: limits.Series, Samples: limits.Samples, ResponseBytes: limits.ResponseBytes,
		LogBytes: limits.LogBytes, LogFiles: limits.LogFiles, LogMatches: limits.LogMatches,
		Rows: limits.Rows, RowBytes: limits.RowBytes,
	}
}

// absolute makes folders independent of the working directory.
func absolute(folders []string) ([]string, error) {
	var whole []string
	for _, folder := range folders {
		path, err := filepath.Abs(folder)
		if err != nil {
			return nil, fmt.Errorf("find folder %s: %w", folder, err)
		}
		whole = append(whole, path)
	}
	return whole, nil
}
