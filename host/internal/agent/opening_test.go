package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/agent"
	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// earlier stores a completed run of the session that was asked and has answered.
func (w *world) earlier(t *testing.T, id, question, answer string, changes ...func(*run.Run)) {
	t.Helper()
	r := run.Run{
		Ref: run.Ref{Tenant: "pska", ID: id}, SessionID: "session-1", Kind: run.Chat, Status: run.Running,
		CreatedAt: time.Now().UTC(), Owner: owner, Epoch: 1,
		Request: run.Request{
			ID: id, Messages: []run.Message{{Role: run.User, Content: question}},
			Identity: sdk.Identity{UserKey: "pska:user_primary", TenantKey: "pska"},
		},
	}
	for _, change := range changes {
		change(&r)
	}
	if _, err := w.Create(t.Context(), r, ledger.Door{Lease: lease}); err != nil {
		t.Fatal(err)
	}
	finish := &ledger.Finish{Status: run.Completed, Outcome: run.Outcome{Answer: answer}}
	if answer == "" {
		finish.Status = run.Failed
	}
	if _, err := w.Ledger.Append(t.Context(), r.Fence(), ledger.Batch{Finish: finish}); err != nil {
		t.Fatal(err)
	}
}

func remembers(s *setting) { s.request.SessionMemory = true }

// heard are the messages of one model call behind our own system words, as short text.
func (w *world) heard(call int) []string {
	var all []string
	for _, message := range w.model.Requests()[call].Messages[1:] {
		all = append(all, fmt.Sprintf("%s: %s", message.Role, message.Content))
	}
	return all
}

func TestARunThatRemembersHearsTheSessionBeforeItsOwnMessages(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("Third.")}, remembers)
	w.earlier(t, "a", "One?", "First.")
	w.earlier(t, "b", "Two?", "Second.")
	w.earlier(t, "failed", "Lost?", "")
	w.earlier(t, "other-user", "Mine?", "Secret.", func(r *run.Run) { r.Request.Identity.UserKey = "pska:other" })
	w.earlier(t, "other-session", "Mine?", "Secret.", func(r *run.Run) { r.SessionID = "session-2" })
	w.earlier(t, "a", "Mine?", "Secret.", func(r *run.Run) { r.Tenant = "other" })
	w.drive(t)
	want := []string{
		"system: Cite.", "user: One?", "assistant: First.", "user: Two?", "assistant: Second.", "user: What is alpha?",
	}
	if diff := cmp.Diff(want, w.heard(0)); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
	memory := map[string]any{"run_ids": []any{"a", "b"}, "messages": 4.0, "bytes": 21.0, "outside_scope": 0.0}
	if diff := cmp.Diff(memory, metadata(t, w.events(t)[0])["session_memory"]); diff != "" {
		t.Errorf("start (-want +got):\n%s", diff)
	}
}

func TestARunThatDoesNotRememberHearsItsOwnMessagesOnly(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("Done.")})
	w.earlier(t, "a", "One?", "First.")
	w.drive(t)
	if diff := cmp.Diff([]string{"system: Cite.", "user: What is alpha?"}, w.heard(0)); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
	if _, told := metadata(t, w.events(t)[0])["session_memory"]; told {
		t.Error("the start tells of a memory")
	}
}

func TestARunWithoutAUserRemembersItsTenantsNamelessRunsOnly(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("Done.")}, remembers, func(s *setting) { s.request.Identity.UserKey = "" })
	nameless := func(r *run.Run) { r.Request.Identity.UserKey = "" }
	w.earlier(t, "named", "Mine?", "Secret.")
	w.earlier(t, "nameless", "One?", "First.", nameless)
	w.earlier(t, "elsewhere", "Mine?", "Secret.", nameless, func(r *run.Run) { r.Tenant = "" })
	w.drive(t)
	want := []string{"system: Cite.", "user: One?", "assistant: First.", "user: What is alpha?"}
	if diff := cmp.Diff(want, w.heard(0)); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
}

func TestALongSessionIsRememberedWithinItsBounds(t *testing.T) {
	for name, c := range map[string]struct {
		turns, bytes int
		want         []string
	}{
		"turns": {1, 1000, []string{"user: Two?", "assistant: Second."}},
		"bytes": {9, 15, []string{"user: Two?", "assistant: Second."}},
		"one turn too long": {9, 8, []string{
			"user: Two?", "assistant: Seco\n[shortened: the first 4 of 7 bytes are shown]",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, []model.Turn{model.Say("Done.")}, remembers, func(s *setting) {
				s.agent.MemoryTurns, s.agent.MemoryBytes = c.turns, c.bytes
			})
			w.earlier(t, "a", "One?", "First.")
			w.earlier(t, "b", "Two?", "Second.")
			w.drive(t)
			want := slices.Concat([]string{"system: Cite."}, c.want, []string{"user: What is alpha?"})
			if diff := cmp.Diff(want, w.heard(0)); diff != "" {
				t.Errorf("heard (-want +got):\n%s", diff)
			}
		})
	}
}

func TestARunBoundToACorpusRemembersOnlyWhatWasFoundInIt(t *testing.T) {
	bound := func(ids ...string) *sdk.Scope { return &sdk.Scope{Mode: sdk.Hard, KnowledgeBaseIDs: ids} }
	w := newWorld(t, []model.Turn{model.Say("Done.")}, remembers, func(s *setting) {
		s.request.ToolPolicy.Scope = bound("alpha", "gamma")
	})
	for id, scope := range map[string]*sdk.Scope{
		"same": bound("gamma", "alpha"), "unbound": nil, "other": bound("beta"), "wider": bound("alpha", "beta"),
		"softly":       {Mode: sdk.Soft, KnowledgeBaseIDs: []string{"alpha"}},
		"sources only": {Mode: sdk.Hard, SourceItemIDs: []string{"src"}},
	} {
		w.earlier(t, id, id+"?", "Found.", func(r *run.Run) { r.Request.ToolPolicy.Scope = scope })
	}
	w.earlier(t, "narrower", "narrower?", "Found.", func(r *run.Run) { r.Request.ToolPolicy.Scope = bound("alpha") })
	w.drive(t)
	want := []string{
		"system: Cite.", "user: same?", "assistant: Found.", "user: narrower?", "assistant: Found.", "user: What is alpha?",
	}
	if diff := cmp.Diff(want, w.heard(0)); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
	if memory := metadata(t, w.events(t)[0])["session_memory"].(map[string]any); memory["outside_scope"] != 5.0 {
		t.Errorf("start %v", memory)
	}
}

// cards are skills that are always chosen unless a list says otherwise.
type cards []run.Skill

func (c *cards) Choose(_ string, wanted *[]string) (chosen []run.Skill, unknown []string) {
	if wanted == nil {
		return *c, nil
	}
	for _, name := range *wanted {
		i := slices.IndexFunc(*c, func(s run.Skill) bool { return s.Name == name })
		if i < 0 {
			unknown = append(unknown, name)
			continue
		}
		chosen = append(chosen, (*c)[i])
	}
	return chosen, unknown
}

func TestSkillsStandInTheSystemWords(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("Done.")}, func(s *setting) {
		s.agent.System = "You work for the archive."
		s.agent.Skills = &cards{{Name: "tides", Description: "When the sea rises.", Digest: "sha256:1", Body: "Look at the table."}}
		s.request.Skills = &[]string{"tides", "nothing"}
	})
	w.drive(t)
	system := w.model.Requests()[0].Messages[0].Content
	before, after, found := strings.Cut(system, "## tides\nWhen the sea rises.\n\nLook at the table.\n\n")
	if !found || !strings.HasPrefix(before, "You work for the archive.\n\n") || !strings.Contains(after, "never mentions") {
		t.Errorf("system words %q", system)
	}
	got := metadata(t, w.events(t)[0])
	want := map[string]any{
		"skills": []any{"tides"}, "ignored_skills": []any{"nothing"}, "skill_digests": map[string]any{"tides": "sha256:1"},
	}
	for key, value := range want {
		if diff := cmp.Diff(value, got[key]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}

func TestASkillThatDoesNotFitIsLeftOutWhole(t *testing.T) {
	w := newWorld(t, []model.Turn{model.Say("Done.")}, func(s *setting) {
		s.agent.SkillBytes = 10
		s.agent.Skills = &cards{{Name: "a", Body: "12345678"}, {Name: "b", Body: "1234567"}, {Name: "c", Body: "12"}}
	})
	w.drive(t)
	got := metadata(t, w.events(t)[0])
	if diff := cmp.Diff([]any{[]any{"a", "c"}, []any{"b"}}, []any{got["skills"], got["omitted_skills"]}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if system := w.model.Requests()[0].Messages[0].Content; strings.Contains(system, "1234567\n") || strings.Contains(system, "## b") {
		t.Errorf("system words %q", system)
	}
}

func TestAResumedRunOpensWithTheSameMemoryAndSkills(t *testing.T) {
	shelf := &cards{{Name: "tides", Digest: "sha256:1", Body: "Look at the table."}}
	var settings setting
	w := newWorld(t, []model.Turn{model.Ask(wish("c1", "write", `{}`)), model.Say("Done.")}, remembers, func(s *setting) {
		s.rules = map[string]any{"write": "require_approval"}
		s.agent.Skills = shelf
		settings = *s
	})
	settings.request.SessionMemory = true
	w.earlier(t, "a", "One?", "First.")
	if outcome := w.drive(t); outcome != agent.Parked {
		t.Fatalf("outcome %v", outcome)
	}
	w.earlier(t, "later", "Meanwhile?", "Yes.")
	if removed, err := w.Prune(t.Context(), ledger.Retention{Runs: time.Nanosecond}, 1); err != nil || removed.Runs != 1 {
		t.Fatalf("pruned %v, %v", removed, err)
	}
	*shelf = cards{{Name: "tides", Digest: "sha256:2", Body: "Something else."}}
	w.employ(t, settings)
	w.answer(t, run.Approved)
	w.drive(t)
	first, second := w.model.Requests()[0], w.model.Requests()[1]
	if diff := cmp.Diff(first.Messages, second.Messages[:len(first.Messages)]); diff != "" {
		t.Errorf("the prompt changed (-before +after):\n%s", diff)
	}
	if len(second.Messages) != len(first.Messages)+2 {
		t.Errorf("%d messages after %d", len(second.Messages), len(first.Messages))
	}
}

func TestARunThatEndsBeforeItBeganRemembersNothing(t *testing.T) {
	w := newWorld(t, nil, remembers)
	w.earlier(t, "a", "One?", "First.")
	if err := w.agent.Conclude(t.Context(), w.run(t), agent.Ending{Status: run.Cancelled}); err != nil {
		t.Fatal(err)
	}
	if events := w.events(t); len(events) != 2 || len(events[0].Memo) > 0 {
		t.Errorf("events %v", lines(events))
	}
}
