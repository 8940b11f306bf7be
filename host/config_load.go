package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxConfigBytes bounds the configuration file and the files it names.
const maxConfigBytes = 1 << 20

// LoadOptions says where Load looks. The zero value reads the process environment and no flags.
type LoadOptions struct {
	Path      string                   // configuration file; empty means FASTREACT_CONFIG, and without it no file
	Getenv    func(name string) string // nil means os.Getenv
	Overrides map[string]string        // flags by path, such as "server.addr"
	Store     string                   // --store: a file, or the DSN of a PostgreSQL database; empty means what the file says
	Insecure  bool                     // --insecure
	AllowAll  bool                     // --allow-all
}

// setting is one value from outside the file.
type setting struct{ source, path, value string }

// Load reads the configuration, strongest source first: flags, environment, file, defaults. It returns a
// *ConfigError with every problem at once when the result must not run; a file that cannot be read is another error.
func Load(options LoadOptions) (*Loaded, error) {
	loaded, err := read(options)
	if err != nil {
		return nil, err
	}
	return loaded, nil
}

// read is Load, but returns what was read also beside a *ConfigError.
func read(options LoadOptions) (*Loaded, error) {
	if options.Getenv == nil {
		options.Getenv = os.Getenv
	}
	file := options.Path
	if file == "" {
		file = options.Getenv("FASTREACT_CONFIG")
	}
	config := DefaultConfig()
	config.Insecure, config.AllowAll = options.Insecure, options.AllowAll
	d := newDecoder()
	if file != "" {
		text, err := readBounded(file)
		if err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
		d.source, d.origin = file, FromFile
		d.document(text, &config)
	}
	d.settings(FromEnvironment, environment(options.Getenv), &config)
	d.settings(FromFlag, flags(options.Overrides), &config)
	d.source = ""
	d.nameStore(&config.Store, options.Store)
	d.resolve(&config, options.Getenv)
	d.resolvePlugins(&config.Plugins, file)
	config.validate(d.report)
	loaded := &Loaded{Config: config, File: file, Origins: d.origins}
	if len(d.problems) > 0 {
		return loaded, &ConfigError{Problems: inFileOrder(d.problems)}
	}
	return loaded, nil
}

// Validate reports every impossible value as a *ConfigError, or nil.
func (c Config) Validate() error {
	d := newDecoder()
	c.validate(d.report)
	if len(d.problems) == 0 {
		return nil
	}
	return &ConfigError{Problems: d.problems}
}

func (c Config) validate(report reporter) {
	c.validateServer(report)
	c.validateAuth(report)
	c.validateModel(report)
	c.validateStore(report)
	c.validateNode(report)
	c.validateIdempotent(report)
	c.validatePlugins(report)
	c.validatePolicy(report)
	c.validateNotify(report)
	c.validateMCP(report)
	c.validateHarness(report)
	c.validateAgentTools(report)
}

// document decodes one YAML or JSON text.
func (d *decoder) document(text []byte, config *Config) {
	if json.Valid(text) {
		text = bytes.ReplaceAll(text, []byte("\t"), []byte(" ")) // JSON may indent with tabs, YAML may not
	}
	stream := yaml.NewDecoder(bytes.NewReader(text))
	var root, more yaml.Node
	if err := stream.Decode(&root); err != nil {
		if !errors.Is(err, io.EOF) {
			d.syntax(err)
		}
		return
	}
	if err := stream.Decode(&more); err == nil {
		d.problems = append(d.problems, Problem{
			Source: d.source, Line: more.Line, Column: 1,
			Message: "a second document stands in the file", Hint: "keep one document",
		})
	} else if !errors.Is(err, io.EOF) {
		d.syntax(err)
	}
	if len(root.Content) != 1 {
		return
	}
	top := root.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return // nothing but comments
	}
	if top.Kind != yaml.MappingNode {
		d.problems = append(d.problems, Problem{
			Source: d.source, Line: top.Line, Column: top.Column,
			Message: "the file must be a mapping, not " + nodeName(top), Hint: "write section: {key: value}",
		})
		return
	}
	d.section(top, reflect.ValueOf(config).Elem(), "")
}

// syntax reports a text that is no YAML. The parser's own words name the line.
func (d *decoder) syntax(err error) {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	problem := Problem{
		Source: d.source, Message: "is neither YAML nor JSON: " + message,
		Hint: "check indentation and quotes",
	}
	if _, scanErr := fmt.Sscanf(message, "line %d:", &problem.Line); scanErr == nil {
		problem.Column = 1
	}
	d.problems = append(d.problems, problem)
}

// environment lists the settings that the environment makes. Secrets are resolved later.
func environment(getenv func(string) string) []setting {
	var found []setting
	for _, known := range []struct{ name, path string }{
		{"FASTREACT_ADDR", "server.addr"},
		{"FASTREACT_MODEL_BASE_URL", "model.base_url"},
		{"FASTREACT_MODEL_NAME", "model.name"},
		{"FASTREACT_LOG_LEVEL", "telemetry.log_level"},
	} {
		if value := getenv(known.name); value != "" {
			found = append(found, setting{known.name, known.path, value})
		}
	}
	return found
}

func flags(overrides map[string]string) []setting {
	var found []setting
	for _, path := range sortedKeys(overrides) {
		found = append(found, setting{"flag", path, overrides[path]})
	}
	return found
}

// settings puts scalar values over what the file said.
func (d *decoder) settings(origin Origin, settings []setting, config *Config) {
	d.origin = origin
	for _, s := range settings {
		d.source = s.source
		target, f, exists := lookUp(reflect.ValueOf(config).Elem(), s.path)
		if !exists {
			d.problems = append(d.problems, Problem{Source: s.source, Path: s.path, Message: "unknown key"})
			continue
		}
		d.value(plainNode(s.value, target.Type()), target, s.path, f)
	}
}

// lookUp finds a scalar by its path. Lists and mappings are not reached.
func lookUp(section reflect.Value, path string) (reflect.Value, field, bool) {
	key, rest, nested := strings.Cut(path, ".")
	for _, f := range fieldsOf(section.Type()) {
		if f.key != key {
			continue
		}
		target := section.Field(f.index)
		switch {
		case nested && target.Kind() == reflect.Struct:
			return lookUp(target, rest)
		case nested, target.Kind() == reflect.Struct, target.Kind() == reflect.Map, target.Kind() == reflect.Slice:
			return reflect.Value{}, field{}, false
		}
		return target, f, true
	}
	return reflect.Value{}, field{}, false
}

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxConfigBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxConfigBytes {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxConfigBytes)
	}
	return text, nil
}
