package bench

import (
	"encoding/json"
	"testing"

	"github.com/fastreact/fastreact/sdk"
)

// question is what every contestant is asked, and what it must say.
type question struct {
	text []byte
	want sdk.Action
}

// questions returns the one of testdata/question.json, to which no rule objects, and one for each rule that does.
func questions(b *testing.B) []question {
	b.Helper()
	var all []question
	add := func(path, content, role string, want sdk.Action) {
		var q sdk.Question
		if err := json.Unmarshal([]byte(read(b, "testdata/question.json")), &q); err != nil {
			b.Fatal(err)
		}
		args := map[string]string{}
		if err := json.Unmarshal(q.Args, &args); err != nil {
			b.Fatal(err)
		}
		if path != "" {
			args["path"] = path
		}
		args["content"] += content
		if role != "" {
			q.Identity.Roles = append(q.Identity.Roles, role)
		}
		q.Args, _ = json.Marshal(args)
		text, err := json.Marshal(q)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, question{text, want})
	}
	add("", "", "", sdk.Allow)
	add("plans/.hidden.md", "", "", sdk.Deny)
	add("plans/run.sh", "", "", sdk.Deny)
	add("", "api_key", "", sdk.Deny)
	add("vendor/a.md", "", "", sdk.RequireApproval)
	add("", "", "guest", sdk.RequireApproval)
	b.Logf("the question has %d bytes", len(all[0].text))
	return all
}
