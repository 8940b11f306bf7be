package house

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mayRecover lists the rooms where a panic of others is caught.
func mayRecover() []string {
	return []string{"host/internal/web", "host/internal/wasm", "host/internal/executor"}
}

// Misbehaving finds what the style forbids in one file: init functions outside of guests, sleeping and reasonless skips
// in tests, contexts kept in structs, functional options, recover outside of web, wasm and executor.
func Misbehaving(source Source) []Finding {
	var found []Finding
	add := func(node ast.Node, rule string) { found = append(found, source.finding(node.Pos(), "%s", rule)) }
	ast.Inspect(source.AST, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil && !isGuest(source) {
				add(n, "init functions belong to guest mains only")
			}
		case *ast.StructType:
			if !source.Test && keepsContext(n) {
				add(n, "a struct keeps a context: pass it as the first parameter")
			}
		case *ast.TypeSpec:
			if _, function := n.Type.(*ast.FuncType); function && strings.HasSuffix(n.Name.Name, "Option") {
				add(n, "functional options: use a config struct")
			}
		case *ast.CallExpr:
			if rule := misbehavingCall(source, n); rule != "" {
				add(n, rule)
			}
			return !inBubble(n)
		}
		return true
	})
	return found
}

// inBubble reports whether a call is synctest.Test: what sleeps within it sleeps on a clock that jumps.
func inBubble(call *ast.CallExpr) bool {
	called, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	from, is := called.X.(*ast.Ident)
	return is && from.Name == "synctest" && called.Sel.Name == "Test"
}

func isGuest(source Source) bool {
	return source.AST.Name.Name == "main" && path.Base(source.Path) == "main_wasip1.go"
}

func keepsContext(declared *ast.StructType) bool {
	for _, f := range declared.Fields.List {
		if kept, is := f.Type.(*ast.SelectorExpr); is && kept.Sel.Name == "Context" {
			if from, is := kept.X.(*ast.Ident); is && from.Name == "context" {
				return true
			}
		}
	}
	return false
}

func misbehavingCall(source Source, call *ast.CallExpr) string {
	switch called := call.Fun.(type) {
	case *ast.Ident:
		if called.Name == "recover" && !source.Test && !slices.Contains(mayRecover(), source.Room) {
			return "recover belongs to web, wasm and executor only"
		}
	case *ast.SelectorExpr:
		from, _ := called.X.(*ast.Ident)
		switch {
		case !source.Test || from == nil:
		case from.Name == "time" && called.Sel.Name == "Sleep":
			return "tests do not sleep: use testing/synctest or a channel"
		case strings.HasPrefix(called.Sel.Name, "Skip") && from.Name == "t" && !saysWhy(call):
			return "a skipped test says that a peer is not installed, or is not skipped"
		}
	}
	return ""
}

// saysWhy reports whether a skip names the peer that is missing.
func saysWhy(call *ast.CallExpr) bool {
	why := false
	ast.Inspect(call, func(node ast.Node) bool {
		literal, is := node.(*ast.BasicLit)
		if is {
			text, err := strconv.Unquote(literal.Value)
			why = why || err == nil && strings.Contains(text, "not installed")
		}
		return true
	})
	return why
}

// unfinished matches words that leave work for later, and the folder of the plans, which is not part of the house.
var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME)\b|(^|[\s"'(/])sha` + `red/`)

// Unfinished finds words that have no place in finished work.
func Unfinished(name string, text []byte) []Finding {
	var found []Finding
	for i, line := range strings.Split(string(text), "\n") {
		if word := unfinished.FindString(line); word != "" {
			found = append(found, Finding{name + ":" + strconv.Itoa(i+1), "mentions " + strings.TrimSpace(word)})
		}
	}
	return found
}
