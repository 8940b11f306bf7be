// Package policycases is what every example of the policy "only notes" must decide, whatever language it is written in:
// write_file and edit_file may write .md and .txt files that are not hidden, and nothing else.
package policycases

import (
	"encoding/json"
	"testing"

	"github.com/fastreact/fastreact/sdk"
)

// Case is one call and the word on it.
type Case struct {
	Name string
	Tool string
	Args string // JSON object
	Want sdk.Action
}

// All returns every case.
func All() []Case {
	return []Case{
		{"a text file", "write_file", `{"path":"greeting.txt","content":"hello"}`, sdk.Allow},
		{"a note in a folder", "edit_file", `{"path":"plans/2026.md"}`, sdk.Allow},
		{"a note in a folder that looks like a script", "write_file", `{"path":"run.sh/notes.md"}`, sdk.Allow},
		{"a name that is not ASCII", "write_file", `{"path":"Pläne/größe.md","content":"ü"}`, sdk.Allow},
		{"a name written with escapes", "write_file", `{"path":"run\u002e\u006dd"}`, sdk.Allow},
		{"a script", "write_file", `{"path":"run.sh"}`, sdk.Deny},
		{"a script that was a note before", "write_file", `{"path":"notes.md.sh"}`, sdk.Deny},
		{"an ending in capitals", "write_file", `{"path":"NOTES.MD"}`, sdk.Deny},
		{"a name without an ending", "write_file", `{"path":"notes"}`, sdk.Deny},
		{"a folder that looks like a note", "write_file", `{"path":"notes.md/run"}`, sdk.Deny},
		{"a hidden file", "edit_file", `{"path":".profile"}`, sdk.Deny},
		{"a hidden note", "edit_file", `{"path":"plans/.hidden.md"}`, sdk.Deny},
		{"a hidden note written with escapes", "edit_file", `{"path":"plans\/\u002ehidden.md"}`, sdk.Deny},
		{"an ending only", "write_file", `{"path":".md"}`, sdk.Deny},
		{"an empty name", "write_file", `{"path":""}`, sdk.Deny},
		{"no name", "write_file", `{}`, sdk.Deny},
		{"a name that is null", "write_file", `{"path":null}`, sdk.Deny},
		{"a name that is no text", "write_file", `{"path":["a.md"]}`, sdk.Deny},
		{"another path inside of a value", "write_file", `{"content":{"path":"a.md"},"path":"run.sh"}`, sdk.Deny},
		{"another path behind a text that ends in a backslash", "write_file", `{"content":"\\","path":"run.sh","more":",\"path\":\"a.md"}`, sdk.Deny},
		{"another path inside of a text", "write_file", `{"content":"\",\"path\":\"a.md\"","path":"run.sh"}`, sdk.Deny},
	}
}

// Check asks a policy about every case. A policy that fails denies, as the host has it.
func Check(t *testing.T, evaluate func(sdk.Question) (sdk.Opinion, error)) {
	t.Helper()
	for _, c := range All() {
		t.Run(c.Name, func(t *testing.T) {
			opinion, err := evaluate(sdk.Question{
				Tool: c.Tool, RawName: c.Tool, Args: json.RawMessage(c.Args),
				Identity: sdk.Identity{UserKey: "pska:user_primary", TenantKey: "pska"}, Static: sdk.Opinion{Action: sdk.Allow},
			})
			if err != nil {
				opinion = sdk.Opinion{Action: sdk.Deny}
			}
			if opinion.Action != c.Want {
				t.Errorf("%s: %s (%v), want %s", c.Args, opinion.Action, err, c.Want)
			}
		})
	}
}
