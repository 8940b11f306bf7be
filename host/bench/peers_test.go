package bench

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/ext"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/fastreact/fastreact/host/bench/rules"
	"github.com/fastreact/fastreact/sdk"
)

// native is the policy as a Go function behind encoding/json.
func native(*testing.B) contestant {
	return contestant{name: "native", ask: func(question []byte) ([]byte, error) {
		var q sdk.Question
		if err := json.Unmarshal(question, &q); err != nil {
			return nil, err
		}
		var args struct{ Path, Content string }
		if err := json.Unmarshal(q.Args, &args); err != nil {
			return nil, err
		}
		return json.Marshal(sdk.Opinion{Action: rules.Judge(q.Tool, args.Path, args.Content, q.Identity.Roles)})
	}}
}

// celProgram is the policy as a compiled CEL expression.
func celProgram(b *testing.B) contestant {
	b.Helper()
	env, err := cel.NewEnv(cel.Variable("q", cel.DynType), ext.Strings())
	if err != nil {
		b.Fatal(err)
	}
	ast, issues := env.Compile(read(b, "testdata/rules.cel"))
	if issues.Err() != nil {
		b.Fatal(issues.Err())
	}
	program, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		b.Fatal(err)
	}
	return contestant{name: "cel", ask: func(question []byte) ([]byte, error) {
		var q map[string]any
		if err := json.Unmarshal(question, &q); err != nil {
			return nil, err
		}
		action, _, err := program.Eval(map[string]any{"q": q})
		if err != nil {
			return nil, err
		}
		return json.Marshal(sdk.Opinion{Action: sdk.Action(action.Value().(string))})
	}}
}

// opaQuery is the policy as a prepared Rego query.
func opaQuery(b *testing.B) contestant {
	b.Helper()
	query, err := rego.New(rego.Query("action = data.rules.action"), rego.Module("rules.rego", read(b, "testdata/rules.rego"))).
		PrepareForEval(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	return contestant{name: "opa", ask: func(question []byte) ([]byte, error) {
		var q map[string]any
		if err := json.Unmarshal(question, &q); err != nil {
			return nil, err
		}
		results, err := query.Eval(ctx, rego.EvalInput(q))
		if err != nil {
			return nil, err
		}
		return json.Marshal(sdk.Opinion{Action: sdk.Action(results[0].Bindings["action"].(string))})
	}}
}

func read(b *testing.B, file string) string {
	b.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}
