package house

import (
	"go/ast"
	"go/token"
)

// Mutable finds package variables of one package that change: they are assigned to, counted, deleted from or handed
// out by address outside their declaration, or are of a type that only makes sense when it changes. What a test file
// declares may change: it is built once for the tests of its package.
func Mutable(sources []Source) []Finding {
	declared := map[string]bool{}
	var found []Finding
	for _, source := range sources {
		if source.Test {
			continue
		}
		for _, spec := range packageVariables(source.AST) {
			for _, name := range spec.Names {
				declared[name.Name] = true
			}
			if changing(spec.Type) {
				found = append(found, source.finding(spec.Pos(), "package variable %s exists to change", spec.Names[0].Name))
			}
		}
	}
	for _, source := range sources {
		ast.Inspect(source.AST, func(node ast.Node) bool {
			for _, changed := range changedBy(node) {
				if name := root(changed); name != nil && isPackageVariable(source.AST, name, declared) {
					found = append(found, source.finding(node.Pos(), "package variable %s is changed", name.Name))
				}
			}
			return true
		})
	}
	return found
}

func packageVariables(file *ast.File) []*ast.ValueSpec {
	var specs []*ast.ValueSpec
	for _, declaration := range file.Decls {
		if group, is := declaration.(*ast.GenDecl); is && group.Tok == token.VAR {
			for _, spec := range group.Specs {
				specs = append(specs, spec.(*ast.ValueSpec))
			}
		}
	}
	return specs
}

// changing reports whether a type belongs to sync or sync/atomic.
func changing(declared ast.Expr) bool {
	if indexed, generic := declared.(*ast.IndexExpr); generic {
		declared = indexed.X
	}
	selected, is := declared.(*ast.SelectorExpr)
	if !is {
		return false
	}
	from, is := selected.X.(*ast.Ident)
	return is && (from.Name == "sync" || from.Name == "atomic")
}

// changedBy returns the expressions that a node changes.
func changedBy(node ast.Node) []ast.Expr {
	switch n := node.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	case *ast.CallExpr:
		if called, is := n.Fun.(*ast.Ident); is && (called.Name == "delete" || called.Name == "clear") && len(n.Args) > 0 {
			return n.Args[:1]
		}
	}
	return nil
}

// root returns the variable that an expression reaches into.
func root(expression ast.Expr) *ast.Ident {
	for {
		switch e := expression.(type) {
		case *ast.Ident:
			return e
		case *ast.IndexExpr:
			expression = e.X
		case *ast.SelectorExpr:
			expression = e.X
		case *ast.StarExpr:
			expression = e.X
		case *ast.ParenExpr:
			expression = e.X
		default:
			return nil
		}
	}
}

// isPackageVariable tells a package's variable from a local one of the same name. The parser resolves names within
// a file; what it leaves open belongs to the package.
func isPackageVariable(file *ast.File, name *ast.Ident, declared map[string]bool) bool {
	return name.Name != "_" && declared[name.Name] && (name.Obj == nil || name.Obj == file.Scope.Lookup(name.Name))
}
