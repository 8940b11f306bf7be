package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/run"
)

// shelf makes a folder with one SKILL.md for each name.
func shelf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "SKILL.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t *testing.T, files map[string]string) *Set {
	t.Helper()
	set, err := Load(Config{Dir: shelf(t, files)})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func plain(name, more string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + ".\n" + more + "---\nDo " + name + ".\n"
}

func names(skills []run.Skill) string {
	var all []string
	for _, s := range skills {
		all = append(all, s.Name)
	}
	return strings.Join(all, " ")
}

func TestASkillIsAFolderWithFrontMatter(t *testing.T) {
	set := load(t, map[string]string{
		"tides": "---\r\nname: tides\r\ndescription: When the sea rises.\r\ntriggers: [tide, high water]\r\nalways: false\r\n" +
			"license: MIT\r\n---\r\n\r\nLook at the table.\r\n---\r\nIt lies.\r\n",
	})
	chosen, unknown := set.Choose("", &[]string{"tides"})
	want := run.Skill{
		Name: "tides", Description: "When the sea rises.", Triggers: []string{"tide", "high water"},
		Body: "Look at the table.\n---\nIt lies.", Digest: chosen[0].Digest,
	}
	if diff := cmp.Diff([]run.Skill{want}, chosen); diff != "" || len(unknown) > 0 {
		t.Errorf("unknown %v, chosen (-want +got):\n%s", unknown, diff)
	}
	if !strings.HasPrefix(chosen[0].Digest, "sha256:") || len(chosen[0].Digest) != 71 {
		t.Errorf("digest %q", chosen[0].Digest)
	}
}

func TestTheDigestSkillComesWithTheProgram(t *testing.T) {
	set, err := Load(Config{})
	if err != nil {
		t.Fatal(err)
	}
	all := set.All()
	if names(all) != "pska_digest" || !all[0].Builtin || !strings.Contains(all[0].Body, "pska_pska_write_candidates") {
		t.Errorf("skills %+v", all)
	}
	if chosen, _ := set.Choose("pska_digest pska digest candidates", nil); len(chosen) > 0 {
		t.Errorf("it was chosen without being asked for")
	}
}

func TestAFolderTakesThePlaceOfABuiltInSkill(t *testing.T) {
	set := load(t, map[string]string{"pska_digest": plain("pska_digest", "")})
	all := set.All()
	if names(all) != "pska_digest" || all[0].Builtin || all[0].Body != "Do pska_digest." {
		t.Errorf("skills %+v", all)
	}
}

func TestTheChoiceFollowsTheRequest(t *testing.T) {
	set := load(t, map[string]string{
		"b": plain("b", "triggers: [\"high water\", Ebbe, 潮]\n"), "a": plain("a", "always: true\n"), "c": plain("c", ""),
	})
	for _, c := range []struct {
		question        string
		wanted          *[]string
		chosen, unknown string
	}{
		{"hello", nil, "a", ""},
		{"When is HIGH WATER?", nil, "a b", ""},
		{"ebbe", nil, "a b", ""},
		{"Ebbestrom", nil, "a", ""},
		{"Springebbe und Ebbe.", nil, "a b", ""},
		{"何時満潮か", nil, "a b", ""},
		{"high  water", nil, "a", ""},
		{"high water", &[]string{}, "", ""},
		{"high water", &[]string{"c", "x", "c", "a", "x", "y"}, "a c", "x y"},
		{"high water", &[]string{""}, "", ""},
	} {
		chosen, unknown := set.Choose(c.question, c.wanted)
		if names(chosen) != c.chosen || strings.Join(unknown, " ") != c.unknown {
			t.Errorf("%q %v: chosen %q, unknown %q", c.question, c.wanted, names(chosen), unknown)
		}
	}
}

func TestBadFrontMatterIsRefusedWithFileAndLine(t *testing.T) {
	long := strings.Repeat("x", 1025)
	for name, c := range map[string]struct{ text, want string }{
		"no front matter":     {"Do it.\n", "s/SKILL.md:1: the file does not begin with front matter"},
		"not closed":          {"---\nname: s\n", "s/SKILL.md:1: the front matter is not closed"},
		"other name":          {"---\nname: other\ndescription: d\n---\nx\n", `s/SKILL.md:2: name is "other", and the folder is "s"`},
		"no description":      {"---\nname: s\n---\nx\n", "s/SKILL.md:2: description is missing"},
		"empty description":   {"---\nname: s\ndescription: ' '\n---\nx\n", "s/SKILL.md:3: description is empty"},
		"description of list": {"---\nname: s\ndescription: [a]\n---\nx\n", "s/SKILL.md:3: description is not text"},
		"long description":    {"---\nname: s\ndescription: " + long + "\n---\nx\n", "s/SKILL.md:3: description is longer than 1024"},
		"unknown key":         {"---\nname: s\ndescription: d\ntrigger: [a]\n---\nx\n", "s/SKILL.md:4: trigger is no key of a skill"},
		"key twice":           {"---\nname: s\ndescription: d\ndescription: e\n---\nx\n", "s/SKILL.md:4: "},
		"always is a word":    {"---\nname: s\ndescription: d\nalways: often\n---\nx\n", "s/SKILL.md:4: always is neither true nor false"},
		"triggers is a word":  {"---\nname: s\ndescription: d\ntriggers: a\n---\nx\n", "s/SKILL.md:4: triggers is not a list"},
		"empty trigger":       {"---\nname: s\ndescription: d\ntriggers: ['']\n---\nx\n", "s/SKILL.md:4: triggers is empty"},
		"many triggers":       {"---\nname: s\ndescription: d\ntriggers: [" + strings.Repeat("a,", 33) + "]\n---\nx\n", "s/SKILL.md:4: there are more than 32"},
		"no YAML":             {"---\nname: s\ndescription: a: b\n---\nx\n", "s/SKILL.md:3: the front matter is not YAML: "},
		"a list":              {"---\n- name\n---\nx\n", "s/SKILL.md:2: the front matter is not a list of keys"},
		"nothing":             {"---\n---\nx\n", "s/SKILL.md:2: the front matter is not a list of keys"},
		"no body":             {"---\nname: s\ndescription: d\n---\n \n", "s/SKILL.md:5: there is no text"},
		"binary":              {"---\nname: s\ndescription: d\n---\n\xff\n", "s/SKILL.md: it is not UTF-8 text"},
	} {
		_, err := Load(Config{Dir: shelf(t, map[string]string{"s": c.text})})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestEverythingThatIsWrongIsSaidAtOnce(t *testing.T) {
	_, err := Load(Config{Dir: shelf(t, map[string]string{
		"a": "---\nname: b\nfoo: 1\n---\nx\n", "b": "x", "Bad Name": plain("Bad Name", ""),
	})})
	for _, part := range []string{"a/SKILL.md:2: name", "a/SKILL.md:3: foo", "a/SKILL.md:2: description", "b/SKILL.md:1", "Bad Name: the name"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
}

func TestASkillThatIsTooLongIsRefused(t *testing.T) {
	dir := shelf(t, map[string]string{"s": plain("s", "")})
	_, err := Load(Config{Dir: dir, MaxBytes: len(plain("s", "")) - 1})
	if err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("got %v", err)
	}
}

func TestMoreSkillsThanAllowedAreRefused(t *testing.T) {
	dir := shelf(t, map[string]string{"a": plain("a", ""), "b": plain("b", "")})
	_, err := Load(Config{Dir: dir, MaxCount: 1})
	if err == nil || !strings.Contains(err.Error(), "more than 1 skills") {
		t.Errorf("got %v", err)
	}
}

func TestALinkThatLeavesTheFolderIsRefused(t *testing.T) {
	outside := shelf(t, map[string]string{"s": plain("s", "")})
	for name, link := range map[string]func(dir string) error{
		"folder": func(dir string) error { return os.Symlink(filepath.Join(outside, "s"), filepath.Join(dir, "s")) },
		"file": func(dir string) error {
			if err := os.Mkdir(filepath.Join(dir, "s"), 0o755); err != nil {
				return err
			}
			return os.Symlink(filepath.Join(outside, "s", "SKILL.md"), filepath.Join(dir, "s", "SKILL.md"))
		},
	} {
		dir := t.TempDir()
		if err := link(dir); err != nil {
			t.Fatal(err)
		}
		if set, err := Load(Config{Dir: dir}); err == nil {
			t.Errorf("%s: read %v", name, names(set.All()))
		}
	}
}

func TestALinkWithinTheFolderIsFollowed(t *testing.T) {
	dir := shelf(t, map[string]string{".kept": plain("s", "")})
	if err := os.Symlink(".kept", filepath.Join(dir, "s")); err != nil {
		t.Fatal(err)
	}
	set, err := Load(Config{Dir: dir})
	if err != nil || names(set.All()) != "pska_digest s" {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsNoFolderIsPassedOver(t *testing.T) {
	dir := shelf(t, map[string]string{"s": plain("s", ""), ".git": "x"})
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := Load(Config{Dir: dir})
	if err != nil || names(set.All()) != "pska_digest s" {
		t.Errorf("got %v", err)
	}
}

func TestAFolderWithoutASkillIsRefused(t *testing.T) {
	dir := shelf(t, nil)
	if err := os.Mkdir(filepath.Join(dir, "s"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), "s/SKILL.md") {
		t.Errorf("got %v", err)
	}
	if _, err := Load(Config{Dir: filepath.Join(dir, "gone")}); err == nil {
		t.Error("a folder that is not there was read")
	}
}

func FuzzAnyTextIsReadOrRefused(f *testing.F) {
	for _, seed := range []string{plain("s", ""), "---\nname: s\n---", "---\n---\n", "", "---\nname: &a [*a]\n---\nx"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		skill, err := parse("s", text)
		if err == nil && (skill.Name != "s" || skill.Body == "" || skill.Description == "") {
			t.Errorf("read as %+v", skill)
		}
	})
}

func TestReloadTakesUpWhatChangedAndKeepsWhatWorksOtherwise(t *testing.T) {
	dir := shelf(t, map[string]string{"s": plain("s", "")})
	open, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "s", "SKILL.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(plain("s", "always: true\n"))
	if err := open.Reload(); err != nil {
		t.Fatal(err)
	}
	write("broken")
	if err := open.Reload(); err == nil {
		t.Error("a broken skill was taken up")
	}
	if chosen, _ := open.Choose("", nil); names(chosen) != "s" {
		t.Errorf("chosen %q of %q", names(chosen), names(open.All()))
	}
}

// TestALongListOfNamesIsReadInOneSweep would take minutes otherwise: a request may hold as many names.
func TestALongListOfNamesIsReadInOneSweep(t *testing.T) {
	wanted := make([]string, 500_000)
	for i := range wanted {
		wanted[i] = fmt.Sprintf("skill-%d", i)
	}
	chosen, unknown := new(Set).Choose("", &wanted)
	if len(chosen) > 0 || len(unknown) != len(wanted) {
		t.Errorf("%d chosen, %d unknown", len(chosen), len(unknown))
	}
}
