// Package report reads and writes, strictly, what a guard is asked about: a draft answer, which is a typed report or a
// plain text, and the evidence of its run. No key may be missing, unknown or repeated, and every list has a bound.
// Whether a report is true is for guards to say.
package report

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fastreact/fastreact/sdk/wire"
)

// Bounds of a report. How large it may be as a whole is for the host to say.
const (
	MaxFindings = 10_000
	MaxCited    = 256 // evidence ids of one finding
	MaxActions  = 1_000
)

// Severity says how bad a finding is.
type Severity string

// The three severities.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Report is a diagnosis as the model writes it. The host adds the evidence that it cites.
type Report struct {
	Summary            string
	Findings           []Finding // at least one
	LikelyCause        string    // empty when none is known
	RecommendedActions []string
}

// Finding is one statement with the evidence it rests on.
type Finding struct {
	Statement   string
	Severity    Severity
	EvidenceIDs []string // at least one, each once
}

// Draft is what a guard reviews: a report, or a plain text.
type Draft struct {
	Report *Report // nil for a text
	Text   string
}

// DecodeDraft reads the draft of a review request: {"text":…} or a report.
func DecodeDraft(raw []byte) (Draft, error) {
	var draft Draft
	texts := 0
	err := object(raw, func(r *wire.Reader, key string) {
		texts++
		if key != "text" || texts > 1 {
			r.Fail(errNotText)
			return
		}
		draft.Text = r.Text()
	})
	if err == nil && texts == 1 {
		return draft, nil
	}
	report, err := DecodeReport(raw)
	return Draft{Report: &report}, err
}

var errNotText = errors.New("it is no text")

// DecodeReport reads a report. Every error names what is wrong, and none repeats a text of the report.
func DecodeReport(raw []byte) (Report, error) {
	var read Report
	seen := keys{}
	err := object(raw, func(r *wire.Reader, key string) {
		switch seen.mark(r, key); key {
		case "summary":
			read.Summary = r.Text()
		case "findings":
			read.Findings = list(r, key, MaxFindings, finding)
		case "likely_cause":
			read.LikelyCause = r.Text()
		case "recommended_actions":
			read.RecommendedActions = list(r, key, MaxActions, (*wire.Reader).Text)
		default:
			r.Fail(errors.New("a report has the keys summary, findings, likely_cause and recommended_actions, and no other"))
		}
	})
	if err == nil {
		err = errors.Join(seen.all("summary", "findings", "likely_cause", "recommended_actions"), read.check())
	}
	if err != nil {
		return Report{}, fmt.Errorf("read report: %w", err)
	}
	return read, nil
}

func finding(r *wire.Reader) Finding {
	var read Finding
	seen := keys{}
	members(r, func(key string) {
		switch seen.mark(r, key); key {
		case "statement":
			read.Statement = r.Text()
		case "severity":
			read.Severity = Severity(r.Text())
		case "evidence_ids":
			read.EvidenceIDs = list(r, key, MaxCited, (*wire.Reader).Text)
		default:
			r.Fail(errors.New("a finding has the keys statement, severity and evidence_ids, and no other"))
		}
	})
	if err := seen.all("statement", "severity", "evidence_ids"); err != nil {
		r.Fail(err)
	}
	return read
}

// check reports what the grammar cannot say.
func (r Report) check() error {
	var problems []error
	if blank(r.Summary) {
		problems = append(problems, errors.New("summary is blank"))
	}
	if len(r.Findings) == 0 {
		problems = append(problems, errors.New("findings is empty"))
	}
	for i, f := range r.Findings {
		if err := f.check(); err != nil && len(problems) < 10 {
			problems = append(problems, fmt.Errorf("findings[%d]: %w", i, err))
		}
	}
	for i, action := range r.RecommendedActions {
		if blank(action) && len(problems) < 10 {
			problems = append(problems, fmt.Errorf("recommended_actions[%d] is blank", i))
		}
	}
	return errors.Join(problems...)
}

func (f Finding) check() error {
	switch f.Severity {
	case Info, Warning, Critical:
	default:
		return errors.New("severity is not info, warning or critical")
	}
	if blank(f.Statement) {
		return errors.New("statement is blank")
	}
	if len(f.EvidenceIDs) == 0 {
		return errors.New("evidence_ids is empty")
	}
	cited := map[string]bool{}
	for _, id := range f.EvidenceIDs {
		if cited[id] {
			return errors.New("evidence_ids names one id twice")
		}
		cited[id] = true
	}
	return nil
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// object reads one JSON object and nothing else.
func object(raw []byte, member func(r *wire.Reader, key string)) error {
	if !utf8.Valid(raw) {
		return errors.New("it is not UTF-8")
	}
	r := wire.NewReader(raw)
	members(r, func(key string) { member(r, key) })
	return r.End()
}

func members(r *wire.Reader, member func(key string)) {
	if r.Kind() != wire.Object {
		r.Fail(errors.New("this is not an object"))
		return
	}
	for name := range r.Members() {
		member(string(name))
	}
}

// list reads a list of at most most elements.
func list[T any](r *wire.Reader, key string, most int, read func(*wire.Reader) T) []T {
	all := []T{}
	if r.Kind() != wire.List {
		r.Fail(errors.New(key + " is a list"))
		return nil
	}
	for i := range r.Elements() {
		if i == most {
			r.Fail(fmt.Errorf("%s has more than %d elements", key, most))
		}
		all = append(all, read(r))
	}
	return all
}

// keys are those that an object had so far.
type keys map[string]bool

func (k keys) mark(r *wire.Reader, key string) {
	if k[key] {
		r.Fail(errors.New("a key is repeated"))
	}
	k[key] = true
}

func (k keys) all(names ...string) error {
	for _, name := range names {
		if !k[name] {
			return fmt.Errorf("%s is missing", name)
		}
	}
	return nil
}
