package builtintest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/host/internal/wasm"
	files "github.com/fastreact/fastreact/plugins/files/contract"
	investigation "github.com/fastreact/fastreact/plugins/investigation/contract"
	shell "github.com/fastreact/fastreact/plugins/shell/contract"
	evidenceguard "github.com/fastreact/fastreact/policies/evidenceguard/contract"
	execguard "github.com/fastreact/fastreact/policies/execguard/contract"
	pskascope "github.com/fastreact/fastreact/policies/pskascope/contract"
	semanticguard "github.com/fastreact/fastreact/policies/semanticguard/contract"
	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/plugintest"
)

func TestFilesModuleKeepsTheContract(t *testing.T) { judge(t, files.Suite()) }

func TestInvestigationModuleKeepsTheContract(t *testing.T) { judge(t, investigation.Suite()) }

func TestShellModuleKeepsTheContract(t *testing.T) { judge(t, shell.Suite()) }

func TestExecGuardModuleKeepsTheContract(t *testing.T) { judge(t, execguard.Suite()) }

func TestPskaScopeModuleKeepsTheContract(t *testing.T) { judge(t, pskascope.Suite()) }

func TestEvidenceGuardModuleKeepsTheContract(t *testing.T) { judge(t, evidenceguard.Suite()) }

func TestSemanticGuardModuleKeepsTheContract(t *testing.T) { judge(t, semanticguard.Suite()) }

// judge runs a plugin's suite against its module, as the host runs it.
func judge(t *testing.T, suite plugintest.Suite) {
	t.Helper()
	if os.Getenv(shelfVariable) == "" {
		if _, err := shelf.builds(); err != nil {
			t.Fatal(err)
		}
		if err := elsewhere(t.Name()); err != nil {
			t.Error(err)
		}
		return
	}
	plugin := load(t, suite.Name, sdk.ReadWrite)
	suite.Run(t, func(t *testing.T, workspace string) plugintest.Driver {
		return func(op sdk.Op, input []byte) ([]byte, error) { return drive(t, plugin, op, input, workspace) }
	})
}

func TestReadOnlyWorkspaceRefusesWritesWithASentence(t *testing.T) {
	plugin := load(t, "files", sdk.ReadOnly)
	workspace := t.TempDir()
	for _, path := range []string{"a.txt", "new/a.txt"} {
		args, err := json.Marshal(map[string]string{"path": path, "content": "x"})
		if err != nil {
			t.Fatal(err)
		}
		call := sdk.Call{Tool: "write_file", Args: args}
		result, err := plugin.Call(t.Context(), wasm.CallContext{Workspace: workspace}, call)
		if err != nil || !result.IsError || !strings.Contains(result.Content, "read-only") {
			t.Errorf("%s: %+v, %v", path, result, err)
		}
	}
	if entries, err := os.ReadDir(workspace); err != nil || len(entries) > 0 {
		t.Errorf("workspace holds %v (%v)", entries, err)
	}
}

func TestAWorkspaceOfACallThatOnlyReadsRefusesWritesThatWereGranted(t *testing.T) {
	plugin, workspace := load(t, "files", sdk.ReadWrite), t.TempDir()
	call := sdk.Call{Tool: "write_file", Args: []byte(`{"path":"a.txt","content":"x"}`)}
	for _, readOnly := range []bool{true, false} {
		result, err := plugin.Call(t.Context(), wasm.CallContext{Workspace: workspace, ReadOnly: readOnly}, call)
		if err != nil || result.IsError != readOnly {
			t.Errorf("read only %v: %+v, %v", readOnly, result, err)
		}
	}
}

// drive carries one operation through the plugin host.
func drive(t *testing.T, plugin *wasm.Plugin, op sdk.Op, input []byte, workspace string) ([]byte, error) {
	ctx := t.Context()
	switch op {
	case sdk.OpCall:
		return through(input, func(call sdk.Call) (sdk.Result, error) {
			return plugin.Call(ctx, wasm.CallContext{Workspace: workspace}, call)
		})
	case sdk.OpEvaluate:
		return through(input, func(q sdk.Question) (sdk.Opinion, error) { return plugin.Evaluate(ctx, q) })
	case sdk.OpInject:
		return through(input, func(r sdk.InjectRequest) (sdk.Injection, error) { return plugin.Inject(ctx, r) })
	case sdk.OpReview:
		return through(input, func(r sdk.ReviewRequest) (sdk.Review, error) { return plugin.Review(ctx, r) })
	case sdk.OpFilter:
		return through(input, func(r sdk.FilterRequest) (sdk.Filtering, error) { return plugin.Filter(ctx, r) })
	}
	return nil, fmt.Errorf("no built-in plugin answers operation %d", op)
}

func through[In, Out any](input []byte, ask func(In) (Out, error)) ([]byte, error) {
	var in In
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	out, err := ask(in)
	if err != nil {
		return nil, err
	}
	var answer bytes.Buffer
	encoder := json.NewEncoder(&answer)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(out)
	return answer.Bytes(), err
}
