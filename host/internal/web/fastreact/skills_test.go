package fastreact

import (
	"strings"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

func TestSkillsAreListedWithoutTheirTexts(t *testing.T) {
	server := open(t, newBook(searched), func(cfg *Config, _ *web.Config) {
		cfg.Skills = func() []run.Skill {
			return []run.Skill{
				{Name: "tides", Description: "When the sea rises.", Digest: "sha256:1", Triggers: []string{"tide"}, Body: "Look."},
				{Name: "z", Description: "Last.", Digest: "sha256:2", Always: true, Builtin: true, Body: "Do."},
			}
		}
	})
	_, body := call(t, server, "GET", "/v1/skills", "")
	want := `{"skills":[{"name":"tides","description":"When the sea rises.","digest":"sha256:1","always":false,` +
		`"triggers":["tide"],"source":"folder","bytes":5},{"name":"z","description":"Last.","digest":"sha256:2",` +
		`"always":true,"triggers":[],"source":"builtin","bytes":3}]}`
	if strings.TrimSpace(body) != want {
		t.Errorf("got  %s\nwant %s", body, want)
	}
}

func TestTheBodyOrItsMetadataSaysWhatASecondRunDoes(t *testing.T) {
	for _, c := range []struct {
		more string
		want run.Multitask
		code int
	}{
		{``, "", 200},
		{`,"multitask":"reject"`, run.Reject, 200},
		{`,"metadata":{"multitask":"enqueue"}`, run.Enqueue, 200},
		{`,"multitask":"interrupt","metadata":{"multitask":"interrupt"}`, run.Interrupt, 200},
		{`,"multitask":"interrupt","metadata":{"multitask":"parallel"}`, "", 422},
		{`,"multitask":"sometimes"`, "", 422},
		{`,"metadata":{"multitask":"Reject"}`, "", 422},
		{`,"multitask":1`, "", 422},
		{`,"multitask":null`, "", 200},
	} {
		b := newBook(searched)
		server := open(t, b)
		body := `{"messages":[{"role":"user","content":"Question"}]` + c.more + `}`
		response, answer := call(t, server, "POST", "/v1/runs", body)
		if response.StatusCode != c.code {
			t.Errorf("%s: %d %s", c.more, response.StatusCode, answer)
		}
		if c.code == 200 && b.asked[0].Multitask != c.want {
			t.Errorf("%s: %q", c.more, b.asked[0].Multitask)
		}
	}
}
