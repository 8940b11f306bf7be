package sdk

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const goodTool = `{"abi":1,"name":"notes","version":"1.0.0","kind":"tool",
	"tools":[{"name":"note_add","description":"Adds.","input_schema":{"type":"object"}}],
	"capabilities":{"files":[{"at":"/","mode":"rw"}]},"limits":{"wall":"2s","memory_pages":256}}`

func TestManifestDecodes(t *testing.T) {
	got, err := DecodeManifest([]byte(goodTool))
	if err != nil {
		t.Fatal(err)
	}
	want := Manifest{
		ABI: 1, Name: "notes", Version: "1.0.0", Kind: KindTool,
		Tools:        []ToolSpec{{Name: "note_add", Description: "Adds.", InputSchema: []byte(`{"type":"object"}`)}},
		Capabilities: Capabilities{Files: []FileAccess{{At: "/", Mode: ReadWrite}}},
		Limits:       Limits{Wall: Duration(2 * time.Second), MemoryPages: 256},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestManifestThatContradictsItselfIsRefused(t *testing.T) {
	for name, edit := range map[string][2]string{
		"unknown key":          {`"abi":1`, `"abi":1,"priority":2`},
		"repeated key":         {`"abi":1`, `"abi":1,"abi":1`},
		"repeated inner key":   {`"mode":"rw"`, `"mode":"ro","mode":"rw"`},
		"other ABI":            {`"abi":1`, `"abi":2`},
		"no name":              {`"name":"notes"`, `"name":""`},
		"name with a path":     {`"name":"notes"`, `"name":"../notes"`},
		"no version":           {`"version":"1.0.0"`, `"version":""`},
		"unknown kind":         {`"kind":"tool"`, `"kind":"hook"`},
		"tools of a policy":    {`"kind":"tool"`, `"kind":"policy"`},
		"tool name with a dot": {`note_add`, `note.add`},
		"schema of an array":   {`{"type":"object"}`, `{"type":"array"}`},
		"schema that is text":  {`{"type":"object"}`, `"object"`},
		"no schema":            {`,"input_schema":{"type":"object"}`, ``},
		"match of a tool":      {`"kind":"tool"`, `"kind":"tool","match":{"tools":["*"]}`},
		"host path":            {`"at":"/"`, `"at":"/","path":"/etc"`},
		"place that climbs":    {`"at":"/"`, `"at":"/a/../.."`},
		"unknown mode":         {`"mode":"rw"`, `"mode":"rwx"`},
		"negative limit":       {`"wall":"2s"`, `"wall":"-2s"`},
		"bytes after":          {`"memory_pages":256}}`, `"memory_pages":256}} {}`},
	} {
		text := strings.Replace(goodTool, edit[0], edit[1], 1)
		if text == goodTool {
			t.Fatalf("%s changes nothing", name)
		}
		if _, err := DecodeManifest([]byte(text)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestManifestThatIsAllBracketsIsRefused(t *testing.T) {
	for _, raw := range []string{strings.Repeat("[", maxManifestBytes), strings.Repeat("[", maxManifestBytes+1)} {
		if _, err := DecodeManifest([]byte(raw)); err == nil {
			t.Error("it was accepted")
		}
	}
}

func TestPolicyMatchIsChecked(t *testing.T) {
	for globs, good := range map[string]bool{
		`["exec","pska_*"]`: true, `[]`: false, `["exec","exec"]`: false, `["[a"]`: false, `[""]`: false,
	} {
		_, err := DecodeManifest([]byte(`{"abi":1,"name":"p","version":"1","kind":"policy","match":{"tools":` + globs + `}}`))
		if (err == nil) != good {
			t.Errorf("%s: %v", globs, err)
		}
	}
}

func FuzzDecodeManifest(f *testing.F) {
	f.Add([]byte(goodTool))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if manifest, err := DecodeManifest(raw); err == nil && manifest.Validate() != nil {
			t.Error("an invalid manifest was decoded")
		}
	})
}
