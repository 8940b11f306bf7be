package peers

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Prometheus is a server that scrapes what it was told.
type Prometheus struct {
	URL string // such as http://127.0.0.1:40001

	server *program
}

// StartPrometheus starts a server that scrapes the targets (host:port, /metrics) every 200 milliseconds under the job
// name service, and evaluates the groups of rules (the YAML of a rule file; may be empty) as often. The caller must Stop
// it. It takes about a second.
func StartPrometheus(rules string, targets ...string) (*Prometheus, error) {
	daemon, err := find("prometheus")
	if err != nil {
		return nil, err
	}
	folder, as, err := folder("prometheus")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err == nil {
		err = configure(folder, rules, targets)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	p := &Prometheus{URL: "http://127.0.0.1:" + strconv.Itoa(port)}
	p.server, err = start(folder, as, p.ready, daemon, "--config.file="+filepath.Join(folder, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address=127.0.0.1:"+strconv.Itoa(port),
		"--log.level=warn")
	if err != nil {
		return nil, err
	}
	return p, nil
}

func configure(folder, rules string, targets []string) error {
	config := "global: {scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 200ms}\n"
	if rules != "" {
		config += "rule_files: [rules.yml]\n"
		if err := os.WriteFile(filepath.Join(folder, "rules.yml"), []byte(rules), 0o644); err != nil {
			return err
		}
	}
	quoted := make([]string, len(targets))
	for i, target := range targets {
		quoted[i] = strconv.Quote(target)
	}
	config += fmt.Sprintf("scrape_configs:\n  - job_name: service\n    static_configs: [{targets: [%s]}]\n", strings.Join(quoted, ", "))
	return os.WriteFile(filepath.Join(folder, "prometheus.yml"), []byte(config), 0o644)
}

func (p *Prometheus) ready() error {
	response, err := http.Get(p.URL + "/-/ready")
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, response.Body)
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}

// Log returns what the server has logged.
func (p *Prometheus) Log() string { return p.server.log.String() }

// Stop ends the server and removes its folder.
func (p *Prometheus) Stop() error { return p.server.stop() }
