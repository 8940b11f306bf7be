// Package evidence turns metrics, log files and databases into canonical evidence: three tools that only read, whose
// every answer is bounded, and that say UNAVAILABLE where nothing is configured. No word of a source's error, no
// statement, path, address or credential leaves in a sentence or a log. Whether a run may use the tools, and what may be
// said on the ground of their evidence, is decided elsewhere.
package evidence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
	"github.com/fastreact/fastreact/plugins/evidence/logs"
	"github.com/fastreact/fastreact/plugins/evidence/metrics"
	"github.com/fastreact/fastreact/plugins/evidence/mysql"
	"github.com/fastreact/fastreact/sdk"
)

// The tools, by their registered names.
const (
	QueryMetrics = "query_metrics"
	QueryLogs    = "query_logs"
	QueryMySQL   = "query_mysql"
)

// Profile is the profile whose runs may use the tools.
const Profile = "diagnosis"

// Plugin is an sdk.Native. It is safe for concurrent use. The zero value is not usable; see New.
type Plugin struct {
	config  Config
	metrics *metrics.Source
	logs    *logs.Source
	mysql   *mysql.Source
}

// New checks the config, reports every problem of it at once, and contacts nobody. The caller must Close the plugin.
func New(config Config) (*Plugin, error) {
	plugin, err := config.withDefaults().build()
	if err != nil {
		return nil, fmt.Errorf("configure evidence: %w", err)
	}
	return plugin, nil
}

// Name is "evidence".
func (p *Plugin) Name() string { return "evidence" }

// source answers the arguments of one tool.
type source struct {
	letter string
	ask    func(ctx context.Context, args sdk.Args) (fact.Answer, error)
}

func (p *Plugin) source(tool string) (source, bool) {
	switch tool {
	case QueryMetrics:
		return source{"m", p.metrics.Ask}, true
	case QueryLogs:
		return source{"l", p.logs.Ask}, true
	case QueryMySQL:
		return source{"d", p.mysql.Ask}, true
	}
	return source{}, false
}

// Invoke asks one source. A question that is refused and a source that fails are results with IsError; an error is a
// tool that nobody knows.
func (p *Plugin) Invoke(ctx context.Context, registered string, call sdk.Call) (sdk.Result, error) {
	from, known := p.source(registered)
	if !known {
		return sdk.Result{}, fmt.Errorf("call evidence: unknown tool %q", registered)
	}
	ctx, cancel := context.WithTimeout(ctx, p.config.Limits.Timeout)
	defer cancel()
	args, err := call.Arguments()
	if err != nil {
		return refused("The arguments are no JSON object in which every name stands once."), nil
	}
	answer, err := from.ask(ctx, args)
	if err != nil {
		return p.failed(registered, err), nil
	}
	name(answer.Evidence, from.letter, call)
	content, err := p.config.Limits.bounds().Encode(answer)
	if err != nil {
		return p.failed(registered, err), nil
	}
	return sdk.Result{Content: content}, nil
}

// name gives items ids that are unique in a run: a call has its id once.
func name(items []fact.Item, letter string, call sdk.Call) {
	sum := sha256.Sum256([]byte(call.RunID + "\x00" + call.CallID))
	for i := range items {
		items[i].EvidenceID = fmt.Sprintf("%s-%s-%d", letter, hex.EncodeToString(sum[:4]), i+1)
	}
}

// failed writes a failure for the model. What is not written here stays here: of its cause the log has the type alone.
func (p *Plugin) failed(tool string, err error) sdk.Result {
	var known *fact.Refusal
	if !errors.As(err, &known) {
		p.config.Log.Warn("evidence failed", slog.String("tool", tool), slog.String("kind", fmt.Sprintf("%T", err)))
		return refused("UNAVAILABLE: the source could not be asked.")
	}
	if known.Unavailable && known.Cause != nil {
		p.config.Log.Warn("evidence unavailable", slog.String("tool", tool),
			slog.String("kind", fmt.Sprintf("%T", known.Cause)))
	}
	return refused(known.Error())
}

func refused(sentence string) sdk.Result { return sdk.Result{Content: sentence, IsError: true} }

// Status is empty: no source is loaded, and each is asked anew by every call. Check examines them.
func (p *Plugin) Status() []sdk.SourceStatus { return []sdk.SourceStatus{} }

func status(name, trouble string) sdk.SourceStatus {
	return sdk.SourceStatus{
		Name: name, Alive: trouble == "", Transport: "evidence", Isolation: "shared", Loaded: true, ToolCount: 1,
		LastError: trouble, Quarantined: []string{},
	}
}

// Check asks every configured source and reports each: one that cannot be asked, a folder that cannot be read, and an
// account that may do more than read are not alive, and LastError says so in a safe sentence. It is what an operator's
// examination shows.
func (p *Plugin) Check(ctx context.Context) []sdk.SourceStatus {
	all := []sdk.SourceStatus{}
	if p.metrics.Configured() {
		all = append(all, status("prometheus", sentence(p.metrics.Check(ctx))))
	}
	if p.logs.Configured() {
		all = append(all, status("logs", sentence(p.logs.Check(ctx))))
	}
	for _, name := range p.mysql.Names() {
		all = append(all, status("mysql "+name, sentence(p.mysql.Check(ctx, name))))
	}
	return all
}

// sentence shows an error, as far as it may be shown.
func sentence(err error) string {
	var known *fact.Refusal
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return strings.ToUpper(known.Sentence[:1]) + known.Sentence[1:]
	}
	return "The source cannot be asked."
}

// Close ends connections.
func (p *Plugin) Close() error {
	if err := p.mysql.Close(); err != nil {
		return fmt.Errorf("close evidence: %w", err)
	}
	return nil
}
