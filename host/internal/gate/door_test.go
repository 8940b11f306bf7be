package gate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A policy is worth what the code path round it is worth. These tests read the whole module: nobody but the gate
// calls Invoke, and nobody but an Invoke calls a module's tool. A forwarding method named Invoke is no way round,
// because its caller is held to the same rule.

const wasmPackage = `"github.com/fastreact/fastreact/host/internal/wasm"`

func TestNobodyButTheGateInvokesATool(t *testing.T) {
	calls := 0
	eachFile(t, func(path string, file *ast.File, set *token.FileSet) {
		inside := strings.HasPrefix(path, "host/internal/gate/")
		for _, call := range callsOf(file, "Invoke") {
			calls++
			if !inside && call.from != "Invoke" {
				t.Errorf("%s: Invoke is called outside the gate", set.Position(call.at))
			}
		}
	})
	if calls == 0 {
		t.Error("no call of Invoke found at all: this test looks at the wrong place")
	}
}

func TestOnlyAnInvokeCallsAModulesTool(t *testing.T) {
	eachFile(t, func(path string, file *ast.File, set *token.FileSet) {
		if strings.HasPrefix(path, "host/internal/wasm/") || !imports(file, wasmPackage) {
			return
		}
		for _, call := range callsOf(file, "Call") {
			if call.from != "Invoke" {
				t.Errorf("%s: a module's tool is called outside Invoke", set.Position(call.at))
			}
		}
	})
}

func TestTheGateKnowsNoPluginHost(t *testing.T) {
	eachFile(t, func(path string, file *ast.File, _ *token.FileSet) {
		if strings.HasPrefix(path, "host/internal/gate/") && imports(file, wasmPackage) {
			t.Errorf("%s imports the plugin host", path)
		}
	})
}

func TestTheGateInvokesInOnePlace(t *testing.T) {
	places := []string{}
	eachFile(t, func(path string, file *ast.File, _ *token.FileSet) {
		if strings.HasPrefix(path, "host/internal/gate/") && len(callsOf(file, "Invoke")) > 0 {
			places = append(places, path)
		}
	})
	if !slices.Equal(places, []string{"host/internal/gate/invoke.go"}) {
		t.Errorf("Invoke is called in %v", places)
	}
}

// calling is one call of a selector, and the function it stands in.
type calling struct {
	at   token.Pos
	from string
}

// callsOf finds every use of x.name that is not a declaration: a call, and also a method value, which is a call that
// somebody else makes.
func callsOf(file *ast.File, name string) []calling {
	found := []calling{}
	for _, declared := range file.Decls {
		from := ""
		if function, isFunction := declared.(*ast.FuncDecl); isFunction && function.Recv != nil {
			from = function.Name.Name
		}
		types := map[ast.Expr]bool{}
		ast.Inspect(declared, func(node ast.Node) bool {
			if field, isField := node.(*ast.Field); isField {
				types[field.Type] = true
			}
			selector, isSelector := node.(*ast.SelectorExpr)
			if isSelector && selector.Sel.Name == name && !types[selector] && !isTypeName(selector) {
				found = append(found, calling{selector.Pos(), from})
			}
			return true
		})
	}
	return found
}

// isTypeName reports whether a selector names the sdk's type Call.
func isTypeName(selector *ast.SelectorExpr) bool {
	qualifier, isName := selector.X.(*ast.Ident)
	return isName && (qualifier.Name == "sdk" || qualifier.Name == "run") && selector.Sel.Name == "Call"
}

func imports(file *ast.File, path string) bool {
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == path })
}

// eachFile parses every Go file of the module that is not a test.
func eachFile(t *testing.T, visit func(path string, file *ast.File, set *token.FileSet)) {
	t.Helper()
	root := moduleRoot(t)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), ".") {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(relative), file, set)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			t.Fatal("no go.mod above the test")
		}
		folder = parent
	}
}
