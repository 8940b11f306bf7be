package workbench

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/trust"
)

func look(t *testing.T, path, pub string) Survey {
	t.Helper()
	s, err := Look(path, pub)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// signed writes a signature beside a module and returns the file of the key's public half.
func signedBy(t *testing.T, path string) (pub string, id trust.KeyID) {
	t.Helper()
	key, err := trust.Generate()
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := trust.Sign(key, module).Encode()
	if err != nil {
		t.Fatal(err)
	}
	public, err := trust.EncodePublic(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{path + trust.SignatureSuffix: signature, path + ".pub": public} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path + ".pub", key.Public().ID()
}

func TestSignatureIsAClaimUntilItIsChecked(t *testing.T) {
	path := written(t, answering(t, policy, allows))
	if s := look(t, path, ""); s.Signature != unsigned || s.Signer != "" {
		t.Errorf("%q %q", s.Signature, s.Signer)
	}
	pub, id := signedBy(t, path)
	if s := look(t, path, ""); s.Signature != unverified || s.Signer != string(id) {
		t.Errorf("%q %q", s.Signature, s.Signer)
	}
	if s := look(t, path, pub); s.Signature != verified || s.Signer != string(id) {
		t.Errorf("%q %q", s.Signature, s.Signer)
	}
}

func TestSignatureThatDoesNotCountNamesNobody(t *testing.T) {
	path := written(t, answering(t, policy, allows))
	signedBy(t, path)
	other, _ := signedBy(t, written(t, answering(t, policy, allows)))
	if s := look(t, path, other); s.Signer != "" || !strings.Contains(s.Signature, "not listed") && !strings.Contains(s.Signature, "names") {
		t.Errorf("%q %q", s.Signature, s.Signer)
	}
	if err := os.WriteFile(path, answering(t, policy, `{"action":"deny"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := look(t, path, ""); s.Signer != "" || !strings.Contains(s.Signature, "another module") {
		t.Errorf("%q %q", s.Signature, s.Signer)
	}
}

func TestEntryGrantsExactlyWhatIsRequested(t *testing.T) {
	module := answering(t, manifestOf("tool", `,"capabilities":{"files":[{"at":"/","mode":"rw"}],"progress":{"bytes":10}}`), allows)
	path := written(t, module)
	s := look(t, path, "")
	want := `- {path: "` + path + `", sha256: "` + strings.TrimPrefix(s.Digest, "sha256:") +
		`", grants: {files: [{at: "/", mode: "rw", path: "workspace"}], progress: {bytes: 10}}}`
	if diff := cmp.Diff(want, s.Entry); diff != "" {
		t.Error(diff)
	}
}

func TestSurveyKeepsTheKeysOfAnInspection(t *testing.T) {
	var keys map[string]any
	if err := json.Unmarshal(asJSON(look(t, written(t, answering(t, policy, allows)), "")), &keys); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"name", "version", "kind", "abi", "digest", "size", "signer", "imports", "exports", "capabilities", "unsupported",
		"requested", "limits", "manifest", "signature", "mode", "dialect", "sizes", "effective_limits", "ceiling", "vectors", "entry",
	} {
		if _, there := keys[name]; !there {
			t.Errorf("there is no %s", name)
		}
	}
}

func TestLimitTableSaysWhereEachLimitComesFrom(t *testing.T) {
	s := look(t, written(t, answering(t, manifestOf("policy", `,"limits":{"wall":"1s"}`), allows)), "")
	for _, line := range s.LimitLines {
		if line.Effective == "" || line.Ceiling == "" || (line.Name == "wall") != (line.Requested != "") {
			t.Errorf("%+v", line)
		}
	}
}
