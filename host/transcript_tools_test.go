package host_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// A transcript of the agent tools is one sentence of their protocol in its own words, and what it looks like on the
// wire. Transcripts without a config of their own are played one after another on one service, each in a workspace of
// its own that nobody used before: its id is the transcript's name. Their sections, in the order in which they stand:
//
//	config       settings of a service of its own; $HARBOUR, $OBSERVATORY, $HOSTILE and $EMPTY are folders of
//	             workspaces, $MODEL a scripted model, $PROVIDER somebody who can be asked
//	workspace    harbour, observatory, hostile or empty: what the transcript's workspace holds; harbour when absent
//	model        turns of the scripted model, one JSON object a line
//	request-1    one HTTP request. It carries what the page's requests carry: cookie, origin, token, content type. A
//	             header "Name: value" replaces one of them, "Name:" leaves it out
//	want-1       its answer; ids in it may be used in later requests. Sequences are counted from the transcript's begin
//	until-1 X    repeats the request until its answer holds X, and shows that
//	contacted    what the provider was asked since the transcript began
//	asked        what the model was asked
//	restart      ends the service and starts it again with what it stored, and opens the new launch address
//
// -update writes what the service answers into want, until, contacted and asked.
func TestTheAgentToolProtocolIsSpokenAsWritten(t *testing.T) {
	var common []transcript
	for _, one := range toolTranscripts(t) {
		if one.section("config") == nil {
			common = append(common, one)
			continue
		}
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			one.play(t, newToolStage(t, string(one.section("config")), one.section("model")))
		})
	}
	t.Run("together", func(t *testing.T) {
		t.Parallel()
		s := newToolStage(t, together(t, common), nil)
		for _, one := range common {
			t.Run(one.name, func(t *testing.T) { one.play(t, s.within(t, one.name)) })
		}
	})
}

// transcript is one file.
type transcript struct {
	name, file string
	archive    *txtar.Archive
}

func toolTranscripts(t *testing.T) []transcript {
	t.Helper()
	files, err := filepath.Glob("../testdata/transcript/agenttools/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	var all []transcript
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, transcript{strings.TrimSuffix(filepath.Base(file), ".txtar"), file, archive})
		if !bytes.HasPrefix(archive.Comment, []byte("« ")) {
			t.Errorf("%s does not begin with the sentence that it proves", file)
		}
	}
	return all
}

func (one transcript) section(name string) []byte {
	for _, section := range one.archive.Files {
		if section.Name == name {
			return section.Data
		}
	}
	return nil
}

// together is the configuration under which many transcripts are played, each in its workspace.
func together(t *testing.T, all []transcript) string {
	t.Helper()
	config := "policy: {user_rules: {\"agent-tools:result-states\": {tools: {jobs.get: deny}}}}\n" +
		"agent_tools:\n  mutation_interval: 1ms\n  providers: [{id: registry, url: $PROVIDER}]\n  workspaces:\n" +
		"    elsewhere: $OBSERVATORY\n    result-states-empty: $EMPTY\n"
	for _, one := range all {
		holds := "harbour"
		if named := one.section("workspace"); named != nil {
			holds = strings.TrimSpace(string(named))
		}
		config += "    " + one.name + ": $" + strings.ToUpper(holds) + "\n"
	}
	return config
}

// play carries out the sections.
func (one transcript) play(t *testing.T, s *toolStage) {
	for i := range one.archive.Files {
		section := &one.archive.Files[i]
		before := string(section.Data)
		s.perform(section)
		if *update {
			continue
		}
		if diff := cmp.Diff(strings.Split(before, "\n"), strings.Split(string(section.Data), "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", section.Name, diff)
		}
	}
	if s.model != nil && s.model.unused() > 0 {
		t.Errorf("%d turns of the model were not asked for", s.model.unused())
	}
	if *update {
		save(t, one.file, one.archive)
	}
}

// perform carries out one section. Sections that say what comes out are replaced by what came out.
func (s *toolStage) perform(section *txtar.File) {
	s.t.Helper()
	kind, name, _ := strings.Cut(section.Name, "-")
	switch {
	case kind == "config", kind == "workspace", kind == "model": // the stage is built of them
	case kind == "request":
		s.requests[name] = string(section.Data)
		s.answers[name] = s.exchange(s.requests[name])
	case kind == "want":
		section.Data = s.answers[name].shown(s.ids)
	case kind == "until":
		number, holds, _ := strings.Cut(name, " ")
		section.Data = s.until(number, holds).shown(s.ids)
	case section.Name == "contacted":
		section.Data = []byte(s.ids.steady(s.provider.asked(), plainCount))
	case section.Name == "asked":
		section.Data = []byte(s.ids.steady(string(s.model.asked(s.t)), plainCount))
	case section.Name == "restart":
		s.restart()
	default:
		s.t.Fatalf("a transcript of the agent tools has no section %q", section.Name)
	}
}

// TestEverySentenceOfTheAgentToolProtocolHasATranscript reads the protocol sentence by sentence.
func TestEverySentenceOfTheAgentToolProtocolHasATranscript(t *testing.T) {
	told := map[string]string{} // sentence to transcript
	for _, one := range toolTranscripts(t) {
		for line := range strings.Lines(string(one.archive.Comment)) {
			if sentence, is := strings.CutPrefix(strings.TrimSpace(line), "« "); is {
				told[strings.TrimSuffix(sentence, " »")] = one.name
			}
		}
	}
	sentences, err := os.ReadFile("../testdata/contract/agenttools/sentences.txt")
	if err != nil {
		t.Fatal(err)
	}
	for sentence := range strings.Lines(string(sentences)) {
		sentence = strings.TrimSpace(sentence)
		if told[sentence] == "" {
			t.Errorf("no transcript begins with %q", sentence)
		}
		delete(told, sentence)
	}
	for sentence, name := range told {
		t.Errorf("%s quotes what the protocol does not say: %q", name, sentence)
	}
}
