package house

import (
	"go/ast"
)

// The walls: what is larger does not fit in the head.
const (
	mostFileLines     = 400
	mostFunctionLines = 60
	mostNesting       = 3
	mostParameters    = 5
	mostMethods       = 5
)

// Oversized finds files, functions and interfaces over the walls. Tests are not measured.
func Oversized(source Source) []Finding {
	if source.Test {
		return nil
	}
	var found []Finding
	if n := lines(source.Text); n > mostFileLines {
		found = append(found, source.finding(source.AST.Package, "the file has %d lines, the wall is %d", n, mostFileLines))
	}
	ast.Inspect(source.AST, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncDecl:
			found = append(found, oversizedFunction(source, n)...)
		case *ast.FuncLit:
			found = append(found, tooManyParameters(source, n.Type, "a function literal")...)
		case *ast.InterfaceType:
			found = append(found, tooManyMethods(source, n)...)
		}
		return true
	})
	return found
}

func oversizedFunction(source Source, function *ast.FuncDecl) []Finding {
	name := function.Name.Name
	found := tooManyParameters(source, function.Type, name)
	if function.Body == nil {
		return found
	}
	if n := source.line(function.End()) - source.line(function.Pos()) + 1; n > mostFunctionLines {
		found = append(found, source.finding(function.Pos(), "%s has %d lines, the wall is %d", name, n, mostFunctionLines))
	}
	if n := nesting(function.Body); n > mostNesting {
		found = append(found, source.finding(function.Pos(), "%s is nested %d deep, the wall is %d", name, n, mostNesting))
	}
	return found
}

func tooManyParameters(source Source, function *ast.FuncType, name string) []Finding {
	if n := function.Params.NumFields(); n > mostParameters {
		return []Finding{source.finding(function.Pos(), "%s takes %d parameters, the wall is %d", name, n, mostParameters)}
	}
	return nil
}

func tooManyMethods(source Source, declared *ast.InterfaceType) []Finding {
	n := 0
	for _, method := range declared.Methods.List {
		n += len(method.Names) // embedded interfaces have none
	}
	if n > mostMethods {
		return []Finding{source.finding(declared.Pos(), "the interface declares %d methods, the wall is %d", n, mostMethods)}
	}
	return nil
}

// nesting counts how deep conditions, loops and switches stand in each other. An else if stands beside its if, and a
// function literal at the depth where it is written.
func nesting(body ast.Node) int {
	deepest := 0
	var visit func(node ast.Node, depth int)
	visit = func(node ast.Node, depth int) {
		deepest = max(deepest, depth)
		ast.Inspect(node, func(inner ast.Node) bool {
			if inner == nil || inner == node || !nests(inner) {
				return true
			}
			if isElse(node, inner) {
				visit(inner, depth)
			} else {
				visit(inner, depth+1)
			}
			return false
		})
	}
	visit(body, 0)
	return deepest
}

func nests(node ast.Node) bool {
	switch node.(type) {
	case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		return true
	}
	return false
}

func isElse(outer, inner ast.Node) bool {
	condition, is := outer.(*ast.IfStmt)
	return is && condition.Else == inner
}
