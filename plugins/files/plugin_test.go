package files_test

import (
	"os"
	"testing"

	"github.com/fastreact/fastreact/plugins/files"
	"github.com/fastreact/fastreact/plugins/files/contract"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
	"github.com/fastreact/fastreact/sdk/plugintest"
)

func TestNativePluginKeepsTheContract(t *testing.T) {
	contract.Suite().Run(t, func(_ *testing.T, workspace string) plugintest.Driver {
		plugin := files.New(func() (*os.Root, error) { return os.OpenRoot(workspace) })
		return func(op sdk.Op, input []byte) ([]byte, error) { return guest.Dispatch(plugin, op, input) }
	})
}

func TestUnknownToolIsAFailure(t *testing.T) {
	plugin := files.New(func() (*os.Root, error) { return os.OpenRoot(t.TempDir()) })
	if _, err := plugin.Call(t.Context(), sdk.Call{Tool: "chmod", Args: []byte(`{}`)}); err == nil {
		t.Error("a tool that is not there was called")
	}
}

func TestMissingWorkspaceIsAFailure(t *testing.T) {
	plugin := files.New(func() (*os.Root, error) { return os.OpenRoot(t.TempDir() + "/gone") })
	if _, err := plugin.Call(t.Context(), sdk.Call{Tool: "list_files", Args: []byte(`{}`)}); err == nil {
		t.Error("a call without a workspace succeeded")
	}
}
