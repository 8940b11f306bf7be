package host

import "github.com/fastreact/fastreact/host/internal/web/fastreact"

// profiles are the kinds of run that this program knows. A digest run reads one batch of what PSKA has gathered and
// writes down once what it found; it works on no files and runs no commands.
func profiles() []fastreact.Profile {
	return []fastreact.Profile{{
		Caller: "pska_digest_worker", Purpose: "digest",
		Hidden: []string{
			"exec", "read_file", "write_file", "edit_file", "list_files", "glob_files", "grep_files",
		},
		Budget: map[string]int{"pska_pska_write_candidates": 1, "pska_pska_job_context": 1},
	}}
}
