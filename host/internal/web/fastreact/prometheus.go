package fastreact

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// prometheus answers the same summary as /v1/metrics in Prometheus text. A registry lives for one scrape: nothing is
// counted twice. Beside them stand the process's own numbers: goroutines, memory, open files.
func (f *face) prometheus(x *web.Exchange) error {
	if !x.Caller.SpeaksForAnyone() {
		return web.Forbidden()
	}
	stats, err := f.cfg.Inspector.Stats(x.Request.Context(), run.Filter{})
	if err != nil {
		return err
	}
	registry := prometheus.NewPedanticRegistry()
	for _, collector := range []prometheus.Collector{
		scrape(stats), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := registry.Register(collector); err != nil {
			return err
		}
	}
	return x.Serve(promhttp.HandlerFor(registry, promhttp.HandlerOpts{DisableCompression: true}))
}

// scrape is a Stats that Prometheus can collect.
type scrape Stats

// Describe leaves the metrics to Collect: an unchecked collector.
func (s scrape) Describe(chan<- *prometheus.Desc) {}

// Collect sends every number once.
func (s scrape) Collect(out chan<- prometheus.Metric) {
	out <- gauge("fastreact_events", "Stored events.", float64(s.Events))
	out <- gauge("fastreact_error_events", "Stored error events.", float64(s.ErrorEvents))
	out <- gauge("fastreact_decision_records", "Stored decision records.", float64(s.Audits))
	out <- gauge("fastreact_run_duration_seconds_avg", "Average duration of finished runs.", s.AvgRunDuration.Seconds())
	out <- gauge("fastreact_tool_duration_seconds_avg", "Average duration of tool calls.", s.AvgToolDuration.Seconds())
	out <- gauge("fastreact_approval_resolution_seconds_avg", "Average time to an answer.", s.AvgResolution.Seconds())
	for status, count := range s.RunsByStatus {
		out <- gauge("fastreact_runs", "Stored runs by status.", float64(count), "status", string(status))
	}
	for status, count := range s.ApprovalsByStatus {
		out <- gauge("fastreact_approvals", "Stored approvals by status.", float64(count), "status", string(status))
	}
	s.collectUsage(out)
	s.collectParts(out)
}

func (s scrape) collectUsage(out chan<- prometheus.Metric) {
	const name, help = "fastreact_llm_tokens", "Tokens of stored runs as the model reported them."
	out <- gauge(name, help, float64(s.Usage.PromptTokens), "kind", "prompt")
	out <- gauge(name, help, float64(s.Usage.CompletionTokens), "kind", "completion")
}

func (s scrape) collectParts(out chan<- prometheus.Metric) {
	for name, stream := range s.Streams {
		out <- gauge("fastreact_store_records", "Records in the store.", float64(stream.Records), "stream", name)
		out <- gauge("fastreact_store_bytes", "Bytes in the store.", float64(stream.Bytes), "stream", name)
	}
	for name, plugin := range s.Plugins {
		out <- counter("fastreact_plugin_calls_total", "Calls of a plugin.", float64(plugin.Calls), "plugin", name)
		out <- counter("fastreact_plugin_failures_total", "Failed calls of a plugin.", float64(plugin.Failures), "plugin", name)
	}
	for name, executor := range s.Executors {
		executor.collect(out, name)
	}
	if s.Dispatch != nil {
		s.Dispatch.collect(out)
	}
}

func (d DispatchStats) collect(out chan<- prometheus.Metric) {
	out <- gauge("fastreact_runs_driven", "Runs that this process drives now.", float64(d.Driving))
	for _, c := range []struct {
		name, help string
		value      int64
	}{
		{"fastreact_fenced_writes_total", "Writes refused because the run belongs to a later claim.", d.Fenced},
		{"fastreact_takeovers_total", "Runs taken over from a process that left them behind.", d.TakenOver},
		{"fastreact_handed_back_total", "Runs handed back while this process stopped.", d.Released},
		{"fastreact_crash_loops_total", "Runs given up because they never came further.", d.CrashLoops},
		{"fastreact_lease_renewal_failures_total", "Renewals of leases that failed.", d.RenewalsFailed},
	} {
		out <- counter(c.name, c.help, float64(c.value))
	}
}

func (e ExecutorStats) collect(out chan<- prometheus.Metric, name string) {
	out <- gauge("fastreact_executor_size", "Work that an executor does at once.", float64(e.Size), "executor", name)
	out <- gauge("fastreact_executor_queue", "Work that may wait for an executor.", float64(e.Queue), "executor", name)
	out <- gauge("fastreact_executor_in_use", "Work that an executor does now.", float64(e.InUse), "executor", name)
	out <- gauge("fastreact_executor_waiting", "Work that waits for an executor.", float64(e.Waiting), "executor", name)
	out <- counter("fastreact_executor_rejected_total", "Work that found no room.", float64(e.Rejected), "executor", name)
}

// gauge makes a number that prunes with the store. label is nothing, or a label's name and value.
func gauge(name, help string, value float64, label ...string) prometheus.Metric {
	return metric(prometheus.GaugeValue, name, help, value, label)
}

func counter(name, help string, value float64, label ...string) prometheus.Metric {
	return metric(prometheus.CounterValue, name, help, value, label)
}

func metric(kind prometheus.ValueType, name, help string, value float64, label []string) prometheus.Metric {
	if len(label) < 2 {
		return prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), kind, value)
	}
	desc := prometheus.NewDesc(name, help, label[:1], nil)
	return prometheus.MustNewConstMetric(desc, kind, value, label[1])
}
