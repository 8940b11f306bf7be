package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
	"github.com/fastreact/fastreact/sdk"
)

func newPluginInspect(p program) *cobra.Command {
	asJSON := false
	command := &cobra.Command{
		Use: "inspect FILE", Short: "Show what a plugin is and may ask for, without running it", Args: exactly("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			inspection, size, err := inspect(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(p.out, inspection)
			}
			return showInspection(p, inspection, size)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON, for scripts")
	return command
}

func inspect(path string) (host.Inspection, int, error) {
	code, err := os.ReadFile(path)
	if err != nil {
		return host.Inspection{}, 0, fmt.Errorf("read plugin: %w", err)
	}
	inspection, err := host.InspectPlugin(code)
	if err != nil {
		return host.Inspection{}, 0, fmt.Errorf("%s is no plugin that this host runs: %w", path, err)
	}
	return inspection, len(code), nil
}

func showInspection(p program, i host.Inspection, size int) error {
	lines := []fact{
		{"name", i.Name},
		{"version", i.Version},
		{"kind", string(i.Kind)},
		{"abi", strconv.Itoa(i.ABI)},
		{"description", i.Manifest.Description},
		{"digest", i.Digest},
		{"signer", orWord(i.Signer, "unsigned")},
		{"size", strconv.Itoa(size) + " bytes"},
		{"imports", byModule(i.Imports)},
		{"unsupported", strings.Join(i.Unsupported, ", ")},
		{"exports", strings.Join(i.Exports, ", ")},
		{"capabilities", orWord(strings.Join(i.Capabilities, ", "), "none")},
	}
	for _, file := range i.Requested.Files {
		lines = append(lines, fact{"requests", fmt.Sprintf("files at %s, %s", file.At, file.Mode)})
	}
	for _, tool := range i.Manifest.Tools {
		lines = append(lines, fact{"tool", tool.Name + ": " + tool.Description})
	}
	switch {
	case i.Manifest.Match != nil:
		lines = append(lines, fact{"judges", strings.Join(i.Manifest.Match.Tools, ", ")})
	case i.Kind == sdk.KindPolicy:
		lines = append(lines, fact{"judges", "every tool"})
	}
	return facts(p.out, append(lines, limitFacts(i)...))
}

// byModule names each module that a plugin imports from once.
func byModule(imports []string) string {
	var text strings.Builder
	last := ""
	for _, full := range imports {
		module, name, _ := strings.Cut(full, " ")
		switch {
		case module == last:
			text.WriteString(", " + name)
		case last == "":
			text.WriteString(module + ": " + name)
		default:
			text.WriteString("; " + module + ": " + name)
		}
		last = module
	}
	return orWord(text.String(), "none")
}

// limitFacts lists the limits that the manifest asks for; the host's defaults stand in for the rest.
func limitFacts(i host.Inspection) []fact {
	limits := []fact{
		{"wall limit", orHostDefault(int64(i.Limits.Wall), time.Duration(i.Limits.Wall).String())},
		{"memory limit", orHostDefault(int64(i.Limits.MemoryPages), strconv.Itoa(int(i.Limits.MemoryPages))+" pages of 64 KiB")},
		{"output limit", orHostDefault(int64(i.Limits.OutputBytes), strconv.Itoa(i.Limits.OutputBytes)+" bytes")},
		{"log limit", orHostDefault(int64(i.Limits.LogBytes), strconv.Itoa(i.Limits.LogBytes)+" bytes")},
	}
	return limits
}

func orHostDefault(value int64, text string) string {
	if value == 0 {
		return "the host's default"
	}
	return text
}

func orWord(text, word string) string {
	if text == "" {
		return word
	}
	return text
}
