package wasm

import (
	"strings"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk/build"
)

// tested returns a plugin made of a vector module and a manifest with these self-test vectors.
func tested(t *testing.T, module, kind, vectors string) *Plugin {
	t.Helper()
	manifest := `{"abi":1,"name":"tested","version":"1","kind":"` + kind + `","vectors":[` + vectors + `]}`
	bytes, err := build.AppendManifest(wat(t, module), []byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return load(t, newHost(t, Config{}), Module{Bytes: bytes, AllowUnpinned: true})
}

const allows = `{"name":"one","op":"evaluate","input":{"tool":"exec","args":{}},"want":{"action":"allow"}}`

func TestAPluginThatAnswersItsVectorsPasses(t *testing.T) {
	plugin := tested(t, "abi/policy-allows", "policy", allows)
	if err := plugin.SelfTest(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheFirstVectorThatIsAnsweredOtherwiseIsNamed(t *testing.T) {
	denies := strings.NewReplacer("allow", "deny", "one", "two").Replace(allows)
	err := tested(t, "abi/policy-allows", "policy", allows+","+denies).SelfTest(t.Context())
	if err == nil || !strings.Contains(err.Error(), `vector "two": action is "allow", the manifest wants "deny"`) {
		t.Errorf("error is %v", err)
	}
}

func TestAVectorThatEndsInATrapKeepsItsCode(t *testing.T) {
	err := tested(t, "hostile/unreachable", "policy", allows).SelfTest(t.Context())
	failure, ok := err.(*Failure)
	if !ok || failure.Code != run.PluginTrapped || !strings.Contains(err.Error(), `vector "one"`) {
		t.Errorf("error is %v", err)
	}
}
