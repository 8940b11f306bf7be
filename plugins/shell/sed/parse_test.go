package sed

import "testing"

func TestScriptsThatWouldRunProgramsAreRefused(t *testing.T) {
	for _, script := range []string{"e", "1e ls", "s/a/b/e", "s/a/ls/ge"} {
		if _, err := Parse(script, false); err == nil {
			t.Errorf("%s was taken", script)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, script := range []string{"s/a/b/g", ":a;N;$!ba;s/\\n/,/g", "/x/,+2{p;d}", "y/abc/xyz/", "2i\\\ntext", "s|[/]|\\U&|2p", "$!{h;d}", "\\,x,Id"} {
		f.Add(script, true)
	}
	f.Fuzz(func(t *testing.T, script string, extended bool) {
		program, err := Parse(script, extended)
		if err == nil && program == nil {
			t.Error("neither a program nor an error")
		}
	})
}
