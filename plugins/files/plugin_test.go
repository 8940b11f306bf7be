package files_test

import (
	"encoding/json"
	"os"
	"strings"
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

func TestWhatIsTooLongIsRefusedWithTheBound(t *testing.T) {
	plugin := files.New(func() (*os.Root, error) { return os.OpenRoot(t.TempDir()) })
	for _, c := range []struct {
		tool, want string
		args       map[string]any
	}{
		{"write_file", "larger than 8388608 bytes", map[string]any{"path": "a", "content": strings.Repeat("x", 8<<20+1)}},
		{"read_file", "longer than 4096 bytes", map[string]any{"path": strings.Repeat("p", 4097)}},
		{"grep_files", "longer than 1000 bytes", map[string]any{"pattern": strings.Repeat("p", 1001)}},
		{"grep_files", "between 1 and 1000", map[string]any{"pattern": "p", "max_matches": 1001}},
		{"glob_files", "more than 8 braces", map[string]any{"pattern": strings.Repeat("{a,b}", 9)}},
	} {
		args, _ := json.Marshal(c.args)
		result, err := plugin.Call(t.Context(), sdk.Call{Tool: c.tool, Args: args})
		if err != nil || !result.IsError || !strings.Contains(result.Content, c.want) {
			t.Errorf("%s: %v %.200q, want %q", c.tool, err, result.Content, c.want)
		}
	}
}
