package host

import (
	"context"
	"errors"
	"strings"

	"github.com/fastreact/fastreact/host/internal/workbench"
	"github.com/fastreact/fastreact/sdk"
)

// PluginSubject is a plugin as its author has it: a module, and the cases beside it.
type PluginSubject = workbench.Subject

// PluginTestReport is what came of a plugin's cases.
type PluginTestReport = workbench.TestReport

// PluginOutcome is what came of one case.
type PluginOutcome = workbench.Outcome

// PluginDiffReport is what changed between two versions of a plugin.
type PluginDiffReport = workbench.DiffReport

// PluginVersion names one side of a comparison.
type PluginVersion = workbench.Version

// PluginChange is one difference between two versions of a plugin.
type PluginChange = workbench.Change

// PluginLeakOptions say how long to look for leaks between tenants.
type PluginLeakOptions = workbench.LeakOptions

// PluginLeakReport is what came of calls of two tenants that shared a plugin.
type PluginLeakReport = workbench.LeakReport

// PluginHostileReport is what came of what no plugin is asked in daily life.
type PluginHostileReport = workbench.HostileReport

// PluginBenchOptions say how often each case is called, and what it may cost.
type PluginBenchOptions = workbench.BenchOptions

// PluginBenchReport is what a plugin costs.
type PluginBenchReport = workbench.BenchReport

// PluginSurvey is everything that a reviewer reads about a module.
type PluginSurvey = workbench.Survey

// PluginLimit is one limit of a plugin in words.
type PluginLimit = workbench.Limit

// OpenPlugin reads a plugin and its cases from its folder or its module's file. It runs nothing.
func OpenPlugin(path string) (*PluginSubject, error) {
	return workbench.Open(path, workbench.Words{Grants: decodeGrants, Limits: decodeLimits})
}

// TestPlugin runs every case of a plugin. An error is no failed case: nothing could be tried.
func TestPlugin(ctx context.Context, subject *PluginSubject) (PluginTestReport, error) {
	return workbench.Test(ctx, subject)
}

// UpdatePlugin rewrites the cases whose answer was not the one they want, and returns the paths of what it wrote.
func UpdatePlugin(subject *PluginSubject, report PluginTestReport) ([]string, error) {
	return workbench.Update(subject, report)
}

// LeakPlugin lets two tenants take turns and compares every answer with that of a fresh instance.
func LeakPlugin(ctx context.Context, subject *PluginSubject, o PluginLeakOptions) (PluginLeakReport, error) {
	return workbench.Leak(ctx, subject, o)
}

// AttackPlugin runs the limit probes under the plugin's limits, and hostile calls against the plugin itself.
func AttackPlugin(ctx context.Context, subject *PluginSubject) (PluginHostileReport, error) {
	return workbench.Hostile(ctx, subject)
}

// BenchPlugin measures every case of a plugin.
func BenchPlugin(ctx context.Context, subject *PluginSubject, o PluginBenchOptions) (PluginBenchReport, error) {
	return workbench.Bench(ctx, subject, o)
}

// LookAtPlugin reads a module for a reviewer, without compiling or running it. Path is a folder or a file;
// pub is the file of the public key that its signature is checked with, or empty.
func LookAtPlugin(path, pub string) (PluginSurvey, error) { return workbench.Look(path, pub) }

// DiffPlugins says what changed between two versions of a plugin, each a folder or a file.
func DiffPlugins(ctx context.Context, before, after string) (PluginDiffReport, error) {
	return workbench.Diff(ctx, before, after)
}

// decodeGrants reads grants as they stand in an entry of plugins.load.
func decodeGrants(text []byte) (sdk.Capabilities, error) {
	entry, err := decodeEntry("grants", text)
	return entry.Grants.Capabilities(), err
}

// decodeLimits reads limits as they stand in an entry of plugins.load.
func decodeLimits(text []byte) (sdk.Limits, error) {
	entry, err := decodeEntry("limits", text)
	return entry.Limits.Limits(), err
}

// decodeEntry reads one key of an entry in plugins.load, strictly as the configuration is read.
func decodeEntry(key string, text []byte) (PluginConfig, error) {
	var document strings.Builder
	document.WriteString("plugins:\n load:\n  - path: case\n    allow_unpinned: true\n    " + key + ":\n")
	for line := range strings.Lines(string(text)) {
		document.WriteString("      " + strings.ReplaceAll(line, "\t", "  "))
	}
	config := DefaultConfig()
	d := newDecoder()
	d.document([]byte(document.String()), &config)
	config.validatePlugins(d.report)
	var problems []error
	for _, p := range d.problems {
		path := strings.TrimPrefix(p.Path, "plugins.load[0].")
		problems = append(problems, errors.New(strings.TrimSpace(path+" "+p.Message+"; "+p.Hint)))
	}
	if len(problems) > 0 || len(config.Plugins.Load) != 1 {
		return PluginConfig{}, errors.Join(problems...)
	}
	return config.Plugins.Load[0], nil
}
