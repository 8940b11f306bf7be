package workbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"golang.org/x/tools/txtar"

	"github.com/fastreact/fastreact/host/internal/wasm"
)

// TestReport is what came of a plugin's cases.
type TestReport struct {
	Plugin string    `json:"plugin"`
	Digest string    `json:"digest"`
	OK     bool      `json:"ok"`
	Cases  []Outcome `json:"cases"`
}

// Test runs every case of a plugin. An error is no failed case: nothing could be tried.
func Test(ctx context.Context, subject *Subject) (report TestReport, err error) {
	if err := subject.needCases(); err != nil {
		return TestReport{}, err
	}
	s, err := newStand(subject, wasm.Config{})
	if err != nil {
		return TestReport{}, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	report = TestReport{Plugin: subject.Inspection.Name, Digest: subject.Inspection.Digest, OK: true}
	for _, c := range subject.Cases {
		outcome, err := s.try(ctx, c)
		if err != nil {
			return TestReport{}, fmt.Errorf("case %s: %w", c.Name, err)
		}
		report.OK = report.OK && outcome.OK
		report.Cases = append(report.Cases, outcome)
	}
	return report, nil
}

// Update rewrites the cases that failed, so that they want what came. Vectors stand in the manifest and are left alone.
// It returns the paths of what it wrote.
func Update(subject *Subject, report TestReport) ([]string, error) {
	var written []string
	for i, c := range subject.Cases {
		if c.archive == nil || !report.Cases[i].unwanted {
			continue
		}
		if err := os.WriteFile(c.path, txtar.Format(c.wanting(report.Cases[i])), 0o644); err != nil {
			return written, fmt.Errorf("update case: %w", err)
		}
		written = append(written, c.path)
	}
	return written, nil
}

// wanting returns the archive with another answer or error in it. The other parts stay.
func (c *Case) wanting(outcome Outcome) *txtar.Archive {
	part := txtar.File{Name: "want", Data: indented(outcome.Answer)}
	if c.Want.Exact != nil {
		part.Name = "want-exact"
	}
	if outcome.ErrorCode != "" {
		part = txtar.File{Name: "want-error", Data: []byte(outcome.ErrorCode + "\n")}
	}
	changed := &txtar.Archive{Comment: c.archive.Comment}
	placed := false
	for _, file := range c.archive.Files {
		switch file.Name {
		case "want", "want-exact", "want-error":
			file, placed = part, true
		}
		changed.Files = append(changed.Files, file)
	}
	if !placed {
		changed.Files = append(changed.Files, part)
	}
	return changed
}

func indented(answer json.RawMessage) []byte {
	var value any
	if err := json.Unmarshal(answer, &value); err != nil {
		return append(answer, '\n')
	}
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return append(answer, '\n')
	}
	return append(text, '\n')
}
