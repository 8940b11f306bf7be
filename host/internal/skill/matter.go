package skill

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Bounds of the front matter.
const (
	maxDescription = 1024 // characters
	maxTriggers    = 32
	maxTrigger     = 64 // characters
)

// fault is one mistake in a file, at a line when it has one.
type fault struct {
	line int
	text string
}

func (f fault) Error() string { return f.text }

// inFile says in which file, and at which line, every mistake of err is.
func inFile(file string, err error) error {
	problems := []error{err}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		problems = joined.Unwrap()
	}
	for i, problem := range problems {
		var f fault
		if errors.As(problem, &f) && f.line > 0 {
			problems[i] = fmt.Errorf("%s:%d: %w", file, f.line, problem)
			continue
		}
		problems[i] = fmt.Errorf("%s: %w", file, problem)
	}
	return errors.Join(problems...)
}

// parse reads the file of a skill: front matter between two lines of three dashes, then the body.
func parse(name string, text []byte) (run.Skill, error) {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return run.Skill{}, errors.New("it is not UTF-8 text")
	}
	matter, body, err := split(strings.ReplaceAll(string(text), "\r\n", "\n"))
	if err != nil {
		return run.Skill{}, err
	}
	sum := sha256.Sum256(text)
	r := &reader{skill: run.Skill{Name: name, Digest: "sha256:" + hex.EncodeToString(sum[:]), Body: strings.TrimSpace(body)}}
	r.matter(matter)
	if r.skill.Body == "" {
		r.fault(strings.Count(matter, "\n")+2, "there is no text after the front matter")
	}
	return r.skill, errors.Join(r.faults...)
}

func split(text string) (matter, body string, err error) {
	text, found := strings.CutPrefix(strings.TrimPrefix(text, "\ufeff"), "---\n")
	if !found {
		return "", "", fault{1, "the file does not begin with front matter: a line ---, then name and description"}
	}
	if matter, body, found = strings.Cut("\n"+text, "\n---\n"); found {
		return strings.TrimPrefix(matter, "\n") + "\n", body, nil
	}
	if matter, found = strings.CutSuffix("\n"+text, "\n---"); found {
		return strings.TrimPrefix(matter, "\n") + "\n", "", nil
	}
	return "", "", fault{1, "the front matter is not closed by a line ---"}
}

// reader reads front matter and keeps what is wrong with it.
type reader struct {
	skill  run.Skill
	faults []error
}

func (r *reader) fault(line int, format string, args ...any) {
	r.faults = append(r.faults, fault{line + 1, fmt.Sprintf(format, args...)}) // the first line is ---
}

func (r *reader) matter(text string) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		line, reason := place(err)
		r.fault(line, "the front matter is not YAML: %s", reason)
		return
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		r.fault(1, "the front matter is not a list of keys with values")
		return
	}
	seen := map[string]bool{}
	pairs := document.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		key, value := pairs[i], pairs[i+1]
		if seen[key.Value] {
			r.fault(key.Line, "%s stands there twice", key.Value)
		}
		seen[key.Value] = true
		r.key(key, value)
	}
	for _, needed := range []string{"name", "description"} {
		if !seen[needed] {
			r.fault(1, "%s is missing", needed)
		}
	}
}

// place takes the line out of an error of the YAML reader.
func place(err error) (line int, reason string) {
	reason = strings.TrimPrefix(err.Error(), "yaml: ")
	if _, failed := fmt.Sscanf(reason, "line %d:", &line); failed != nil {
		return 1, reason
	}
	_, reason, _ = strings.Cut(reason, ": ")
	return line, reason
}

func (r *reader) key(key, value *yaml.Node) {
	switch key.Value {
	case "name":
		if r.text(key, value, 64) != r.skill.Name {
			r.fault(value.Line, "name is %q, and the folder is %q", value.Value, r.skill.Name)
		}
	case "description":
		r.skill.Description = r.text(key, value, maxDescription)
	case "always":
		if err := value.Decode(&r.skill.Always); err != nil || value.Tag != "!!bool" {
			r.fault(value.Line, "always is neither true nor false")
		}
	case "triggers":
		r.triggers(key, value)
	case "license", "version", "compatibility", "metadata", "allowed-tools": // others write them; they decide nothing here
	default:
		r.fault(key.Line, "%s is no key of a skill; there are name, description, triggers and always", key.Value)
	}
}

// text reads one line of text that is not empty.
func (r *reader) text(key, value *yaml.Node, most int) string {
	text := strings.TrimSpace(value.Value)
	switch {
	case value.Kind != yaml.ScalarNode || value.Tag != "!!str":
		r.fault(value.Line, "%s is not text", key.Value)
	case text == "":
		r.fault(value.Line, "%s is empty", key.Value)
	case utf8.RuneCountInString(text) > most:
		r.fault(value.Line, "%s is longer than %d characters", key.Value, most)
	}
	return text
}

func (r *reader) triggers(key, value *yaml.Node) {
	if value.Kind != yaml.SequenceNode {
		r.fault(value.Line, "triggers is not a list")
		return
	}
	if len(value.Content) > maxTriggers {
		r.fault(value.Line, "there are more than %d triggers", maxTriggers)
		return
	}
	for _, word := range value.Content {
		r.skill.Triggers = append(r.skill.Triggers, r.text(key, word, maxTrigger))
	}
}
