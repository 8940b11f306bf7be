package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fastreact/fastreact/host"
	"github.com/fastreact/fastreact/sdk"
)

func newPluginInspect(p program) *cobra.Command {
	asJSON, pub := false, ""
	command := &cobra.Command{
		Use: "inspect DIR|FILE", Short: "Show what a plugin is and may ask for, without running it", Args: exactly("DIR or FILE"),
		Long: "Reads a plugin's file, or the plugin.wasm of a folder, and shows what a reviewer must know: what it can call,\n" +
			"what it asks for, its limits, who signed it, and the entry that an operator would write. The module is not run.\n" +
			"docs/reviewers.md explains every line.",
		RunE: func(_ *cobra.Command, args []string) error {
			survey, err := host.LookAtPlugin(args[0], pub)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(p.out, survey)
			}
			return showSurvey(p, survey)
		},
	}
	jsonFlag(command, &asJSON)
	command.Flags().StringVar(&pub, "pub", "", "public key file to check the signature with")
	return command
}

func showSurvey(p program, s host.PluginSurvey) error {
	lines := []fact{
		{"name", s.Name},
		{"version", s.Version},
		{"kind", string(s.Kind)},
		{"abi", strconv.Itoa(s.ABI)},
		{"dialect", s.Dialect},
		{"mode", strings.TrimSuffix(s.Mode+", "+s.Note, ", ")},
		{"description", s.Manifest.Description},
		{"digest", s.Digest},
		{"signer", signerText(s)},
		{"size", sizeText(s)},
		{"memory", memoryText(s)},
		{"imports", byModule(s.Imports)},
		{"unsupported", strings.Join(s.Unsupported, ", ")},
		{"exports", strings.Join(s.Exports, ", ")},
		{"capabilities", orWord(strings.Join(s.Capabilities, ", "), "none")},
	}
	for _, request := range s.Requests {
		lines = append(lines, fact{"requests", request})
	}
	for _, tool := range s.Manifest.Tools {
		lines = append(lines, fact{"tool", tool.Name + ": " + tool.Description}, fact{"arguments", string(tool.InputSchema)})
	}
	lines = append(lines, fact{"judges", judgesText(s)})
	for _, limit := range s.LimitLines {
		lines = append(lines, fact{limit.Name + " limit", limitText(limit)})
	}
	lines = append(lines, fact{"vectors", orWord(strings.Join(s.Vectors, ", "), "none")})
	if err := facts(p.out, lines); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.out, "\nTo load it with everything that it asks for, an operator writes under plugins.load:\n  %s\n", onScreen(s.Entry))
	return err
}

// signerText names a key only as far as it may be believed.
func signerText(s host.PluginSurvey) string {
	switch {
	case s.Signer == "":
		return s.Signature
	case s.Signature == "verified":
		return s.Signer + ", verified"
	}
	return s.Signer + ", a claim until it is checked with --pub"
}

func sizeText(s host.PluginSurvey) string {
	text := fmt.Sprintf("%d bytes: %d of code in %s, %d of data", s.Sizes.FileBytes, s.Sizes.CodeBytes,
		counted(s.Sizes.Functions, "function"), s.Sizes.DataBytes)
	if s.Metered > 0 {
		text += fmt.Sprintf("; %d with metering (+%d%%)", s.Metered, 100*(s.Metered-s.Sizes.FileBytes)/s.Sizes.FileBytes)
	}
	return text
}

func memoryText(s host.PluginSurvey) string {
	text := fmt.Sprintf("%d bytes at the start", s.Sizes.InitialMemory)
	if s.Sizes.MaximumMemory > 0 {
		return fmt.Sprintf("%s, declares at most %d", text, s.Sizes.MaximumMemory)
	}
	return text
}

func judgesText(s host.PluginSurvey) string {
	switch {
	case s.Manifest.Match != nil:
		return strings.Join(s.Manifest.Match.Tools, ", ")
	case s.Kind == sdk.KindPolicy:
		return "every tool"
	}
	return ""
}

// limitText says what holds, and why.
func limitText(l host.PluginLimit) string {
	why := "the host's default"
	if l.Requested != "" {
		why = "asks for " + l.Requested
	}
	return fmt.Sprintf("%s  (%s; nobody gets more than %s)", l.Effective, why, l.Ceiling)
}

// byModule names each module that a plugin imports from once.
func byModule(imports []string) string {
	var modules []string
	functions := map[string][]string{}
	for _, full := range imports {
		module, name, _ := strings.Cut(full, " ")
		if !slices.Contains(modules, module) {
			modules = append(modules, module)
		}
		functions[module] = append(functions[module], name)
	}
	var texts []string
	for _, module := range modules {
		texts = append(texts, module+": "+strings.Join(functions[module], ", "))
	}
	return orWord(strings.Join(texts, "; "), "none")
}

func orWord(text, word string) string {
	if text == "" {
		return word
	}
	return text
}
