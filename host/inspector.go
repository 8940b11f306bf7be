package host

import (
	"context"
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/gate"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web/fastreact"
)

// inspector lets a face look into the server.
type inspector struct{ server *Server }

// Ready makes sure that MCP servers are loaded and reports on everything the service leans on.
func (i inspector) Ready(ctx context.Context) fastreact.ReadyReport {
	cfg := i.server.options.Config
	report := fastreact.ReadyReport{
		Agent: i.server.takesRuns(), Compiled: true,
		Model: fastreact.ModelReport{
			Name: modelName(cfg.Model), BaseSet: cfg.Model.BaseURL != "", APIKeySet: cfg.Model.APIKey != "",
		},
		Store: fastreact.StoreReport{Driver: cfg.Store.Driver, Ready: true},
	}
	for _, native := range i.server.options.Natives {
		for _, tool := range native.Tools(ctx) {
			if tool.Profile == "" {
				report.Tools = append(report.Tools, tool.Name)
			}
		}
		if _, source := native.(examined); !source {
			report.Servers = append(report.Servers, native.Status()...)
		}
	}
	i.reportStore(ctx, &report.Store)
	i.reportPlugins(&report)
	return report
}

// reportStore says whether the store can be written to, and which processes share it.
func (i inspector) reportStore(ctx context.Context, report *fastreact.StoreReport) {
	asked, stop := context.WithTimeout(ctx, storePatience)
	defer stop()
	err := i.server.ledger.Ping(asked)
	if err == nil {
		report.Nodes, err = i.nodes(asked)
	}
	switch {
	case err == nil:
	case asked.Err() != nil && ctx.Err() == nil:
		report.Ready, report.LastError = false, fmt.Sprintf("it has not answered for %s", storePatience)
	default:
		_, sentence := run.Public(err)
		report.Ready, report.LastError = false, sentence
	}
}

// storePatience is how long readiness waits for the store: those who ask for it wait for seconds.
const storePatience = 2 * time.Second

// takesRuns reports whether new runs are taken: not by a process that is stopping.
func (s *Server) takesRuns() bool { return !s.runs.Draining() }

func (i inspector) nodes(ctx context.Context) (alive []fastreact.NodeReport, err error) {
	nodes, err := i.server.ledger.Nodes(ctx)
	for _, n := range nodes {
		alive = append(alive, fastreact.NodeReport{
			Name: n.Name, Incarnation: n.Owner, Since: n.Since, Seen: n.Seen, Runs: n.Runs, Self: n.Owner == i.server.owner,
		})
	}
	return alive, err
}

// reportPlugins says which plugins serve, and why they are not the ones that somebody wanted last.
func (i inspector) reportPlugins(report *fastreact.ReadyReport) {
	serving, trouble := i.server.serving.Load(), i.server.trouble.Load()
	report.Generation = fastreact.GenerationReport{Number: serving.number, Since: serving.since}
	if trouble != nil {
		report.Generation.Degraded, report.Generation.LastError = trouble.since, trouble.reason()
	}
	for _, r := range serving.residents {
		state, lastError := r.state()
		report.Compiled = report.Compiled && r.works()
		if trouble != nil && r.works() && trouble.plugins[r.Name()] != "" {
			state, lastError = "degraded", trouble.plugins[r.Name()]
		}
		report.Plugins = append(report.Plugins, fastreact.PluginReport{
			Name: r.Name(), Kind: string(r.manifest().Kind), Digest: r.Digest(), Generation: serving.number,
			State: state, LastError: lastError,
		})
	}
}

// Tools returns every tool there is, but for those that are reserved for runs of one profile.
func (i inspector) Tools(ctx context.Context) []run.Tool {
	return i.server.gate.Visible(ctx, run.ToolPolicy{})
}

// Policy returns the policy in force.
func (i inspector) Policy() fastreact.Policy {
	snapshot := i.server.gate.Policy()
	return fastreact.Policy{
		Config: snapshot.Policy, Hash: snapshot.Hash, Plugins: snapshot.Plugins,
		Reload: i.server.options.Reload != nil,
	}
}

// DryRun judges a call that is not made.
func (i inspector) DryRun(ctx context.Context, probe fastreact.Probe) (run.Decision, error) {
	return i.server.gate.DryRun(ctx, gate.Probe{Tool: probe.Tool, Args: probe.Args, Identity: probe.Identity}), nil
}

// Stats counts what belongs to the runs that the filter selects. Plugins are everybody's: they count every call.
func (i inspector) Stats(ctx context.Context, of run.Filter) (fastreact.Stats, error) {
	counted, err := i.server.ledger.Stats(ctx, of)
	if err != nil {
		return fastreact.Stats{}, err
	}
	stats := fastreact.Stats{
		RunsByStatus: counted.RunsByStatus, AvgRunDuration: counted.AvgRunDuration,
		Events: counted.Events, ErrorEvents: counted.ErrorEvents,
		Audits: counted.Audits, AvgToolDuration: counted.AvgToolDuration,
		ApprovalsByStatus: counted.ApprovalsByStatus, AvgResolution: counted.AvgResolution,
		Usage: counted.Usage, Driver: i.server.options.Config.Store.Driver,
		Streams: map[string]fastreact.Stream{}, Plugins: map[string]fastreact.PluginStats{},
		Executors: i.server.executors(), Dispatch: new(fastreact.DispatchStats(i.server.runs.Stats())),
	}
	for _, failure := range counted.RecentErrors {
		stats.RecentErrors = append(stats.RecentErrors, fastreact.RecentError(failure))
	}
	for name, stream := range counted.Streams {
		stats.Streams[name] = fastreact.Stream(stream)
	}
	for _, r := range i.server.serving.Load().residents {
		calls, failures := r.counts()
		stats.Plugins[r.Name()] = fastreact.PluginStats{Calls: calls, Failures: failures}
	}
	return stats, nil
}
