package logs

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/plugins/evidence/fact"
	"github.com/fastreact/fastreact/sdk"
)

// noon is when every test asks.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// folder writes files, each a minute older than the one before.
func folder(t *testing.T, files ...[2]string) string {
	t.Helper()
	root := t.TempDir()
	for i, file := range files {
		path := filepath.Join(root, file[0])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file[1]), 0o644); err != nil {
			t.Fatal(err)
		}
		when := noon.Add(-time.Duration(i) * time.Minute)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func source(t *testing.T, change func(*Config), roots ...string) *Source {
	t.Helper()
	config := Config{
		Roots: roots, Zone: time.UTC, Clock: func() time.Time { return noon },
		Bytes: 1 << 20, Files: 100, Matches: 50, Excerpt: 2048,
	}
	if change != nil {
		change(&config)
	}
	s, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func try(t *testing.T, s *Source, arguments map[string]any) (fact.Answer, error) {
	t.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	args, err := sdk.ReadArgs(raw)
	if err != nil {
		t.Fatal(err)
	}
	return s.Ask(t.Context(), args)
}

func ask(t *testing.T, s *Source, arguments map[string]any) (fact.Item, string) {
	t.Helper()
	answer, err := try(t, s, arguments)
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Evidence) != 1 {
		t.Fatalf("%d items", len(answer.Evidence))
	}
	return answer.Evidence[0], answer.Note
}

// matches returns the lines of an item, as name and text.
func matches(item fact.Item) []string {
	lines := []string{}
	for _, one := range item.Facts[3:] {
		lines = append(lines, one.Name+" "+one.Value)
	}
	return lines
}

func expect(t *testing.T, s *Source, arguments map[string]any, want ...string) {
	t.Helper()
	item, _ := ask(t, s, arguments)
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, matches(item)); diff != "" {
		t.Errorf("%v (-want +got):\n%s", arguments, diff)
	}
}

func TestMatchingLinesBecomeEvidenceNewestFirst(t *testing.T) {
	s := source(t, nil, folder(t,
		[2]string{"app.log", "2026-11-30 11:58:00 ERROR pool empty\n2026-11-30 11:59:00 info fine\n2026-11-30 11:59:30 error pool empty\n"},
		[2]string{"app.log.1", "2026-11-30 10:00:00 Error pool EMPTY\n"},
	))
	got, note := ask(t, s, map[string]any{"query": "error pool empty"})
	want := fact.Item{
		Source: "logs", Title: "Logs: 3 matching lines in 2 files", ObservedAt: "2026-11-30T12:00:00Z",
		Facts: []fact.Fact{
			{Name: "matching lines", Value: "3"},
			{Name: "files with a match", Value: "2"},
			{Name: "files read", Value: "2"},
			{Name: "app.log:3", Value: "2026-11-30 11:59:30 error pool empty"},
			{Name: "app.log:1", Value: "2026-11-30 11:58:00 ERROR pool empty"},
			{Name: "app.log.1:1", Value: "2026-11-30 10:00:00 Error pool EMPTY"},
		},
		Excerpt: "app.log:3: 2026-11-30 11:59:30 error pool empty\napp.log:1: 2026-11-30 11:58:00 ERROR pool empty\n" +
			"app.log.1:1: 2026-11-30 10:00:00 Error pool EMPTY",
	}
	if diff := cmp.Diff(want, got); diff != "" || note != "" {
		t.Errorf("(-want +got):\n%s note %q", diff, note)
	}
}

func TestNoMatchIsEvidenceToo(t *testing.T) {
	got, _ := ask(t, source(t, nil, folder(t, [2]string{"a.log", "fine\n"})), map[string]any{"query": "bad"})
	if got.Title != "Logs: no matching line in 1 file" || got.Facts[0].Value != "0" {
		t.Errorf("%+v", got)
	}
}

func TestQueryIsTextOrRegularExpression(t *testing.T) {
	s := source(t, nil, folder(t, [2]string{"a.log", "took 120 ms\nTook 7 ms\na/b/c\n(x)\n/\n"}))
	expect(t, s, map[string]any{"query": `/took \d{3,} ms/`}, "a.log:1 took 120 ms")
	expect(t, s, map[string]any{"query": `/took \d+ ms/i`}, "a.log:2 Took 7 ms", "a.log:1 took 120 ms")
	expect(t, s, map[string]any{"query": "a/b/c"}, "a.log:3 a/b/c")
	expect(t, s, map[string]any{"query": "(x)"}, "a.log:4 (x)")
	expect(t, s, map[string]any{"query": "/"}, "a.log:5 /", "a.log:3 a/b/c")
	if _, err := try(t, s, map[string]any{"query": "/(/"}); err == nil || !strings.Contains(err.Error(), "RE2") {
		t.Error(err)
	}
}

func TestPathsAreGlobsBelowTheFolders(t *testing.T) {
	s := source(t, nil, folder(t, [2]string{"app.log", "x\n"}, [2]string{"nginx/error.log", "x\n"}, [2]string{"nginx/old/error.log", "x\n"}))
	for glob, want := range map[string][]string{
		"":               {"app.log:1 x", "nginx/error.log:1 x", "nginx/old/error.log:1 x"},
		"**":             {"app.log:1 x", "nginx/error.log:1 x", "nginx/old/error.log:1 x"},
		"app*.log":       {"app.log:1 x"},
		"error.log":      {"nginx/error.log:1 x", "nginx/old/error.log:1 x"},
		"nginx/*.log":    {"nginx/error.log:1 x"},
		"./nginx/*.log":  {"nginx/error.log:1 x"},
		"nginx/**":       {"nginx/error.log:1 x", "nginx/old/error.log:1 x"},
		"**/error.log":   {"nginx/error.log:1 x", "nginx/old/error.log:1 x"},
		"**/old/*":       {"nginx/old/error.log:1 x"},
		"nginx/[a-f]*.l": {},
	} {
		arguments := map[string]any{"query": "x", "paths": glob}
		if glob == "" {
			delete(arguments, "paths")
		}
		expect(t, s, arguments, want...)
	}
}

func TestPathOutsideTheFoldersIsRefused(t *testing.T) {
	s := source(t, nil, folder(t, [2]string{"a.log", "x\n"}))
	for _, glob := range []string{"/etc/passwd", "../*", "a/../../b", "a//b", "./../x", `a\b`, "[", "a/./b", strings.Repeat("**/", 40) + "x"} {
		if _, err := try(t, s, map[string]any{"query": "x", "paths": glob}); err == nil || strings.Contains(err.Error(), "passwd") {
			t.Errorf("%s: %v", glob, err)
		}
	}
}

func TestLinkIsNotFollowed(t *testing.T) {
	outside := folder(t, [2]string{"secret.log", "canary x\n"})
	root := folder(t, [2]string{"a.log", "x\n"})
	for name, target := range map[string]string{
		"out.log": filepath.Join(outside, "secret.log"), "up": outside, "rel.log": "../../../../../../etc/passwd", "in.log": "a.log",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	item, note := ask(t, source(t, nil, root), map[string]any{"query": "x"})
	if diff := cmp.Diff([]string{"a.log:1 x"}, matches(item)); diff != "" || note != "Links, pipes and devices are not read: 4." {
		t.Errorf("(-want +got):\n%s note %q", diff, note)
	}
}

// TestPipeHoldsNobodyUp would never end if the pipe were opened as a file.
func TestPipeHoldsNobodyUp(t *testing.T) {
	root := folder(t, [2]string{"a.log", "x\n"})
	if err := syscall.Mkfifo(filepath.Join(root, "pipe.log"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := source(t, nil, root)
	expect(t, s, map[string]any{"query": "x"}, "a.log:1 x")
	roots, err := s.open()
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(roots)
	if _, _, err := openFile(candidate{root: roots[0], path: "pipe.log"}); err == nil {
		t.Error("a pipe was opened as a file")
	}
}

func TestFileThatVanishesIsCounted(t *testing.T) {
	s := source(t, nil, folder(t, [2]string{"a.log", "x\n"}))
	roots, err := s.open()
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(roots)
	asked, err := readQuery("x")
	if err != nil {
		t.Fatal(err)
	}
	search := newSearch(s.config, question{matches: asked, limit: 10})
	if err := search.file(t.Context(), candidate{root: roots[0], path: "gone.log"}); err == nil {
		t.Error("a file that is gone was read")
	}
}

func TestFileThatGrowsIsReadToTheLengthItHad(t *testing.T) {
	root := folder(t, [2]string{"a.log", "x\n"})
	s := source(t, nil, root)
	grow := func(line string) bool {
		file, err := os.OpenFile(filepath.Join(root, "a.log"), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = file.WriteString("x\n")
		}
		if err != nil {
			t.Error(err)
			return false
		}
		_ = file.Close()
		return strings.Contains(line, "x")
	}
	roots, err := s.open()
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(roots)
	search := newSearch(s.config, question{matches: grow, limit: 10})
	if err := search.file(t.Context(), candidate{root: roots[0], path: "a.log", shown: "a.log"}); err != nil {
		t.Fatal(err)
	}
	if search.total != 1 {
		t.Errorf("%d lines", search.total)
	}
}

func TestBinaryAndCompressedFilesAreNamedNotRead(t *testing.T) {
	s := source(t, nil, folder(t, [2]string{"a.log", "x\n"}, [2]string{"b.bin", "x\x00x\n"}, [2]string{"c.log.gz", "x\n"}))
	item, note := ask(t, s, map[string]any{"query": "x"})
	if diff := cmp.Diff([]string{"a.log:1 x"}, matches(item)); diff != "" ||
		note != "Compressed files are not read: 1. Binary files are not read: 1." {
		t.Errorf("(-want +got):\n%s note %q", diff, note)
	}
}

func TestHugeLineIsReadToItsStart(t *testing.T) {
	s := source(t, nil, folder(t, [2]string{"a.log", "start " + strings.Repeat("y", 300000) + " end\nnext\n"}))
	expect(t, s, map[string]any{"query": "end"})
	expect(t, s, map[string]any{"query": "next"}, "a.log:2 next")
	item, note := ask(t, s, map[string]any{"query": "start"})
	if item.Facts[0].Value != "1" || note != "Lines of which only the start was read: 1." || len(item.Excerpt) > 2048 {
		t.Errorf("%v %q", item.Facts[0], note)
	}
}

func TestBytesThatAreNoTextAreReplaced(t *testing.T) {
	expect(t, source(t, nil, folder(t, [2]string{"a.log", "x \xff\xfe y\r\n"})), map[string]any{"query": "x"}, "a.log:1 x � y")
}

func TestSinceReadsTimeStampsOfCommonForms(t *testing.T) {
	old := map[string]string{
		"2026-11-30T11:00:00Z old x": "2026-11-30T11:55:00.5Z new x", "2026-11-30T11:56:00+01:00 old x": "2026-11-30T12:55:00+0100 new x",
		"2026-11-30 11:00:00,123 old x": "2026-11-30 11:55:00,123 new x", "2026/11/30 11:00:00 old x": "2026/11/30 11:55:00 new x",
		`1.2.3.4 - - [30/Nov/2026:11:00:00 +0000] "GET x"`: `1.2.3.4 - - [30/Nov/2026:12:55:00 +0100] "GET x"`,
		"Nov 30 11:00:00 host old x":                       "Nov 30 11:55:00 host new x", "I1130 11:00:00.000000 old x": "I1130 11:55:00.000000 new x",
		`{"level":"error","time":"2026-11-30T11:00:00Z","msg":"x"}`: `{"level":"error","time":"2026-11-30T11:55:00Z","msg":"x"}`,
		"1796036400 old x": "1796039700 new x", `{"ts":1796036400.5,"msg":"x"}`: `{"ts":1796039700.5,"msg":"x"}`,
		"ts=1796036400123 old x": "ts=1796039700123 new x", "<34>Dec  1 11:00:00 last year x": "<34>Nov 30 11:55:00 new x",
	}
	for before, after := range old {
		s := source(t, nil, folder(t, [2]string{"a.log", before + "\n" + after + "\n"}))
		expect(t, s, map[string]any{"query": "x", "since": "10m"}, "a.log:2 "+after)
		expect(t, s, map[string]any{"query": "x", "since": "2026-11-30T11:50:00Z"}, "a.log:2 "+after)
	}
}

func TestLineWithoutATimeStampHasThatOfTheLineBefore(t *testing.T) {
	s := source(t, nil, folder(t, [2]string{"a.log", "2026-11-30 11:00:00 panic\n\tx.go:1\n2026-11-30 11:55:00 panic\n\tx.go:2\n"}))
	expect(t, s, map[string]any{"query": "x.go", "since": "10m"}, "a.log:4 \tx.go:2")
}

func TestFileThatNobodyWroteToSinceIsNotRead(t *testing.T) {
	s := source(t, nil, folder(t, [2]string{"new.log", "x\n"}, [2]string{"old.log", "x\n"}))
	item, note := ask(t, s, map[string]any{"query": "x", "since": "30s"})
	if diff := cmp.Diff([]string{"new.log:1 x"}, matches(item)); diff != "" || !strings.Contains(note, "without a time stamp") {
		t.Errorf("(-want +got):\n%s note %q", diff, note)
	}
}

func TestLimitKeepsTheNewestLines(t *testing.T) {
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "2026-11-30 11:%02d:%02d x %d\n", i/60, i%60, i)
	}
	s := source(t, nil, folder(t, [2]string{"a.log", text.String()}))
	item, note := ask(t, s, map[string]any{"query": "x", "limit": 2})
	want := []string{"a.log:500 2026-11-30 11:08:19 x 499", "a.log:499 2026-11-30 11:08:18 x 498"}
	if diff := cmp.Diff(want, matches(item)); diff != "" || note != "498 further matching lines are older and not shown." {
		t.Errorf("(-want +got):\n%s note %q", diff, note)
	}
	if item, _ = ask(t, s, map[string]any{"query": "x", "limit": 100000}); len(matches(item)) != 50 || len(item.Excerpt) > 2048+400 {
		t.Errorf("%d lines, excerpt of %d bytes", len(matches(item)), len(item.Excerpt))
	}
}

func TestBytesThatAreReadAreBounded(t *testing.T) {
	big := strings.Repeat("2026-11-30 11:00:00 filler\n", 1000) + "2026-11-30 11:01:00 x\n"
	s := source(t, func(c *Config) { c.Bytes = 200 }, folder(t, [2]string{"a.log", big}, [2]string{"b.log", "x\n"}))
	item, note := ask(t, s, map[string]any{"query": "x"})
	if diff := cmp.Diff([]string{"a.log 2026-11-30 11:01:00 x"}, matches(item)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(note, "only the end was read") || !strings.Contains(note, "more than is read for one question") {
		t.Error(note)
	}
}

func TestFilesThatAreLookedAtAreBounded(t *testing.T) {
	files := [][2]string{}
	for i := range 5 {
		files = append(files, [2]string{fmt.Sprintf("%d.log", i), "x\n"})
	}
	item, note := ask(t, source(t, func(c *Config) { c.Files = 2 }, folder(t, files...)), map[string]any{"query": "x"})
	if item.Facts[2].Value != "2" || !strings.Contains(note, "more than is read") {
		t.Errorf("%v %q", item.Facts, note)
	}
}

func TestCallThatIsOverEndsTheSearch(t *testing.T) {
	s := source(t, nil, folder(t, [2]string{"a.log", "x\n"}))
	args, err := sdk.ReadArgs([]byte(`{"query":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Ask(ctx, args); err == nil || !strings.Contains(err.Error(), "cancelled") {
		t.Error(err)
	}
	late, stop := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer stop()
	answer, err := s.Ask(late, args)
	if err != nil || !strings.Contains(answer.Note, "time for one question was over") {
		t.Errorf("%v, note %q", err, answer.Note)
	}
}

func TestNameOfAFileStaysOnItsLine(t *testing.T) {
	s := source(t, nil, folder(t, [2]string{"a\nb.log", "x\n"}))
	expect(t, s, map[string]any{"query": "x"}, "a?b.log:1 x")
}

func TestSeveralFoldersAreNumbered(t *testing.T) {
	s := source(t, nil, folder(t, [2]string{"a.log", "x\n"}), folder(t, [2]string{"a.log", "x\n"}), filepath.Join(t.TempDir(), "none"))
	item, note := ask(t, s, map[string]any{"query": "x"})
	if diff := cmp.Diff([]string{"1:a.log:1 x", "2:a.log:1 x"}, matches(item)); diff != "" || !strings.Contains(note, "could not be read: 1") {
		t.Errorf("(-want +got):\n%s note %q", diff, note)
	}
}

func TestNoFolderIsUnavailable(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "canary")
	for _, s := range []*Source{source(t, nil), source(t, nil, missing)} {
		_, err := try(t, s, map[string]any{"query": "x"})
		if err == nil || !strings.HasPrefix(err.Error(), "UNAVAILABLE") || strings.Contains(err.Error(), "canary") {
			t.Error(err)
		}
	}
	if err := source(t, nil, missing).Check(t.Context()); err == nil || strings.Contains(err.Error(), "canary") {
		t.Error(err)
	}
	if err := source(t, nil, t.TempDir()).Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRelativeFolderIsRefused(t *testing.T) {
	if _, err := New(Config{Roots: []string{"canary/x", "/var/log", "y"}}); err == nil || strings.Contains(err.Error(), "canary") ||
		!strings.Contains(err.Error(), "root 1") || !strings.Contains(err.Error(), "root 3") {
		t.Error(err)
	}
}

func TestArgumentsOfOtherKindsAreRefused(t *testing.T) {
	s := source(t, nil, folder(t, [2]string{"a.log", "x\n"}))
	for _, arguments := range []map[string]any{
		{},
		{"query": " "},
		{"query": 7},
		{"query": "x", "paths": []string{"a"}},
		{"query": "x", "since": "yesterday"},
		{"query": "x", "limit": 0},
		{"query": "x", "limit": "2"},
		{"query": "x", "root": "/etc"},
		{"query": strings.Repeat("x", 513)},
		{"query": "a\x00b"},
		{"query": "x", "since": -1},
	} {
		if _, err := try(t, s, arguments); err == nil {
			t.Errorf("%v was answered", arguments)
		}
	}
}

func FuzzTimeStampIsReadOrNot(f *testing.F) {
	for _, line := range []string{"2026-11-30T11:00:00Z", "Nov 30 11:00:00", "I1130 11:00:00.000000", "ts=1796036400", "[30/Nov/2026:11:00:00 +0000]"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if at, found := (stamps{time.UTC, noon}).read(line); !found && !at.IsZero() {
			t.Errorf("%q: %v without being found", line, at)
		}
	})
}
