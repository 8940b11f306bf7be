package shell_test

import (
	"os"
	"testing"

	"github.com/fastreact/fastreact/plugins/shell"
	"github.com/fastreact/fastreact/plugins/shell/contract"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
	"github.com/fastreact/fastreact/sdk/plugintest"
)

func TestNativePluginKeepsTheContract(t *testing.T) {
	contract.Suite().Run(t, func(_ *testing.T, workspace string) plugintest.Driver {
		plugin := shell.New(func() (*os.Root, error) { return os.OpenRoot(workspace) })
		return func(op sdk.Op, input []byte) ([]byte, error) { return guest.Dispatch(plugin, op, input) }
	})
}

func TestUnknownToolIsAFailure(t *testing.T) {
	plugin := shell.New(func() (*os.Root, error) { return os.OpenRoot(t.TempDir()) })
	if _, err := plugin.Call(t.Context(), sdk.Call{Tool: "run", Args: []byte(`{"command":"ls"}`)}); err == nil {
		t.Error("a tool that is not there was called")
	}
}
