package execguard_test

import (
	"encoding/json"
	"testing"

	"github.com/fastreact/fastreact/policies/execguard"
	"github.com/fastreact/fastreact/policies/execguard/contract"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
	"github.com/fastreact/fastreact/sdk/plugintest"
)

func TestNativePolicyKeepsTheContract(t *testing.T) {
	plugin := execguard.Plugin{}
	contract.Suite().Run(t, func(*testing.T, string) plugintest.Driver {
		return func(op sdk.Op, input []byte) ([]byte, error) { return guest.Dispatch(plugin, op, input) }
	})
}

func FuzzNoCommandBreaksTheGuard(f *testing.F) {
	for _, seed := range []string{"ls", "rm -rf /", "a=(1 2); ${a[@]}", "sed 's/a/b/", "awk '{print > \"x", "x[$(rm)]=1", "git -c", "xargs -I", "tar", "{a,{b,c}}", "find -exec", "chmod", "~"} {
		f.Add(seed)
	}
	plugin := execguard.Plugin{}
	f.Fuzz(func(t *testing.T, command string) {
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		opinion, err := plugin.Evaluate(sdk.Question{Tool: "exec", Args: args})
		if err != nil || !opinion.Action.Valid() || opinion.Reason == "" {
			t.Errorf("%q: %+v, %v", command, opinion, err)
		}
	})
}
