package investigation_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/fastreact/fastreact/plugins/investigation"
	"github.com/fastreact/fastreact/plugins/investigation/contract"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
	"github.com/fastreact/fastreact/sdk/plugintest"
)

func TestNativePluginKeepsTheContract(t *testing.T) {
	contract.Suite().Run(t, func(_ *testing.T, workspace string) plugintest.Driver {
		plugin := investigation.New(func() (*os.Root, error) { return os.OpenRoot(workspace) })
		return func(op sdk.Op, input []byte) ([]byte, error) { return guest.Dispatch(plugin, op, input) }
	})
}

func TestUnknownToolIsAFailure(t *testing.T) {
	plugin := investigation.New(func() (*os.Root, error) { return os.OpenRoot(t.TempDir()) })
	for _, tool := range []string{"research_get_state", "graph.get_node", ""} {
		if _, err := plugin.Call(t.Context(), sdk.Call{Tool: tool, Args: []byte(`{}`)}); err == nil {
			t.Errorf("%q, a tool that is not there, was called", tool)
		}
	}
}

func TestMissingWorkspaceIsAFailure(t *testing.T) {
	plugin := investigation.New(func() (*os.Root, error) { return os.OpenRoot(t.TempDir() + "/gone") })
	if _, err := plugin.Call(t.Context(), sdk.Call{Tool: "jobs_get", Args: []byte(`{"job_id":"0b8e6a52-6f0f-5d0c-9d6e-0f6f0d6b1c11"}`)}); err == nil {
		t.Error("a call without a workspace succeeded")
	}
}

func TestEveryToolOfTheManifestIsAnsweredAndItsSchemaIsClosed(t *testing.T) {
	text, err := os.ReadFile("module/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest sdk.Manifest
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	plugin := investigation.New(func() (*os.Root, error) { return os.OpenRoot(t.TempDir()) })
	for _, tool := range manifest.Tools {
		var schema struct {
			Properties map[string]any `json:"properties"`
			Required   []string       `json:"required"`
			Additional *bool          `json:"additionalProperties"`
		}
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		if len(schema.Properties) != 1 || len(schema.Required) != 1 || schema.Additional == nil || *schema.Additional {
			t.Errorf("%s: schema %s", tool.Name, tool.InputSchema)
		}
		result, err := plugin.Call(t.Context(), sdk.Call{Tool: tool.Name, Args: []byte(`{}`)})
		if err != nil || !result.IsError || result.Content != `{"error":"input_invalid"}` {
			t.Errorf("%s: %+v, %v", tool.Name, result, err)
		}
	}
	if len(manifest.Tools) != 7 {
		t.Errorf("%d tools", len(manifest.Tools))
	}
}
