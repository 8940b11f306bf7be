package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/sdk"
)

// version names this source; commit is set by the linker (make build), and read from the build information otherwise.
var (
	version = "0.1.0-dev"
	commit  string
)

// buildInfo describes the running program.
type buildInfo struct {
	Version   string `json:"version"`
	Commit    string `json:"commit"`
	Go        string `json:"go"`
	Platform  string `json:"platform"`
	PluginABI int    `json:"plugin_abi"`
}

func thisBuild() buildInfo {
	return buildInfo{
		Version: version, Commit: builtCommit(), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, PluginABI: sdk.ABIVersion,
	}
}

func builtCommit() string {
	if commit != "" {
		return commit
	}
	info, known := debug.ReadBuildInfo()
	if !known {
		return "unknown"
	}
	found, changed := "unknown", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			found = setting.Value[:min(12, len(setting.Value))]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			changed = "+changes"
		}
	}
	return found + changed
}

func newVersion(p program) *cobra.Command {
	asJSON := false
	command := &cobra.Command{
		Use: "version", Short: "Print version, commit, Go and plugin ABI", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			if asJSON {
				return json.NewEncoder(p.out).Encode(b)
			}
			_, err := fmt.Fprintf(p.out, "fastreact %s (commit %s, %s, %s, plugin ABI %d)\n",
				b.Version, b.Commit, b.Go, b.Platform, b.PluginABI)
			return err
		},
	}
	jsonFlag(command, &asJSON)
	return command
}
