package host_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// A transcript is one sentence of the protocol, as its preamble, and what it looks like on the wire. Its sections are
// carried out in the order in which they stand:
//
//	config         settings of the service, as in its file; $PSKA_KB is the example server, $RECEIVED its call log,
//	               $LOGS a folder of log files
//	environment    variables of the service, NAME=value
//	flags          --allow-all, or nothing
//	plugins        the built-in plugins that take part; loading one takes a second under the race detector
//	logs           a file in $LOGS
//	tools          native tools that answer with a fixed text, one JSON object a line; one that "hangs" does not, until
//	               its process ends
//	model          turns of the scripted model, one JSON object a line; in a text $EVIDENCE-1 is the first evidence id
//	               that the model was shown
//	request-1      one HTTP request
//	want-1         its answer; the run, session and approval ids in it may be used in later requests
//	begin-1        one HTTP request whose answer is not waited for before its want
//	await NAME N   waits until that many wait for the executor
//	heard N        waits until the model was asked that often since the last such section
//	leave-1 WORD   reads the answer to the request until an event that holds the word, and closes the connection
//	called TOOL    waits until a native tool is called
//	crash          goes on with another process, as behind kill -9 of the one before
//	forget         stops the service, removes the events of all runs that are over, and starts it again
//	wait RUN WHAT  reads the run's stream until an event of that type, or until it is over: done
//	asked          what the model was asked
//	received       what the example server received
//
// -update writes what the service answers into want, asked and received.
var update = flag.Bool("update", false, "rewrite the transcripts with what the service answers")

// shared holds the compiled modules and the example server for all transcripts.
var shared string

func TestMain(m *testing.M) {
	if cache := os.Getenv(cacheVariable); cache != "" {
		if err := compile(cache); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	folder, err := os.MkdirTemp("", "fastreact-transcript-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	shared = folder
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

func TestTheProtocolIsSpokenAsWritten(t *testing.T) {
	for _, face := range []string{"fastreact", "chat"} {
		files, err := filepath.Glob("../testdata/transcript/" + face + "/*.txtar")
		if err != nil || len(files) == 0 {
			t.Fatalf("no transcripts of %s: %v", face, err)
		}
		for _, file := range files {
			t.Run(face+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				t.Parallel()
				play(t, file)
			})
		}
	}
}

// play carries out one transcript.
func play(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(archive.Comment, []byte(`"`)) {
		t.Errorf("%s does not begin with the sentence that it proves", file)
	}
	s := newStage(t, archive)
	for i := range archive.Files {
		section := &archive.Files[i]
		before := string(section.Data)
		s.perform(section)
		if *update {
			continue
		}
		if diff := cmp.Diff(strings.Split(before, "\n"), strings.Split(string(section.Data), "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", section.Name, diff)
		}
	}
	if rest := s.model.unused(); rest > 0 {
		t.Errorf("%d turns of the model were not asked for", rest)
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// perform carries out one section. Sections that say what comes out are replaced by what came out.
func (s *stage) perform(section *txtar.File) {
	s.t.Helper()
	kind, name, _ := strings.Cut(section.Name, "-")
	switch {
	case kind == "config", kind == "environment", kind == "flags", kind == "plugins", kind == "tools", kind == "logs",
		kind == "model": // the stage is built of them
	case kind == "rewrite": // the configuration file, for a service that reads it again
		s.rewrite(section.Data)
	case kind == "request":
		s.answers[name] = s.send(string(section.Data))
	case kind == "want":
		section.Data = s.read(name)
	case kind == "leave":
		number, until, _ := strings.Cut(name, " ")
		section.Data = s.leave(number, until)
	case kind == "begin":
		s.begin(name, string(section.Data))
	case strings.HasPrefix(section.Name, "heard "):
		for range number(s.t, strings.Fields(section.Name)[1]) {
			<-s.model.heard
		}
	case strings.HasPrefix(section.Name, "await "):
		s.await(strings.Fields(section.Name)[1:])
	case strings.HasPrefix(section.Name, "called "):
		s.called(strings.Fields(section.Name)[1])
	case section.Name == "crash":
		s.crash()
	case section.Name == "forget":
		s.forget()
	case section.Name == "asked":
		section.Data = s.asked()
	case section.Name == "received":
		section.Data = s.received()
	case strings.HasPrefix(section.Name, "wait "):
		s.wait(strings.Fields(section.Name)[1:])
	default:
		s.t.Fatalf("a transcript has no section %q", section.Name)
	}
}
