package house

import (
	"go/ast"
	"go/token"
	"strings"
)

// Undocumented finds packages without a comment and exported names without one. Tests need none.
func Undocumented(sources []Source) []Finding {
	var found []Finding
	first, told := map[string]Source{}, map[string]bool{}
	for _, source := range sources {
		if source.Test {
			continue
		}
		if _, seen := first[source.Room]; !seen {
			first[source.Room] = source
		}
		if source.AST.Doc != nil {
			told[source.Room] = true
		}
		for _, declaration := range source.AST.Decls {
			found = append(found, undocumentedNames(source, declaration)...)
		}
	}
	for room, source := range first {
		if !told[room] {
			found = append(found, source.finding(source.AST.Package, "package %s has no package comment", room))
		}
	}
	return found
}

func undocumentedNames(source Source, declaration ast.Decl) []Finding {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && receiverIsExported(d) {
			return []Finding{source.finding(d.Pos(), "%s has no doc comment", d.Name.Name)}
		}
	case *ast.GenDecl:
		return undocumentedSpecs(source, d)
	}
	return nil
}

func receiverIsExported(function *ast.FuncDecl) bool {
	if function.Recv == nil {
		return true
	}
	receiver := function.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.IndexListExpr:
			receiver = r.X
		case *ast.Ident:
			return r.IsExported()
		default:
			return true
		}
	}
}

// undocumentedSpecs looks at types, constants and variables. A comment over their group counts for constants and
// variables, a comment behind them too.
func undocumentedSpecs(source Source, declared *ast.GenDecl) []Finding {
	var found []Finding
	for _, spec := range declared.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			alone := !declared.Lparen.IsValid() && declared.Doc != nil
			if s.Name.IsExported() && s.Doc == nil && !alone {
				found = append(found, source.finding(s.Pos(), "%s has no doc comment", s.Name.Name))
			}
		case *ast.ValueSpec:
			if declared.Doc == nil && s.Doc == nil && s.Comment == nil && anyExported(s.Names) {
				found = append(found, source.finding(s.Pos(), "%s has no doc comment", s.Names[0].Name))
			}
		}
	}
	return found
}

func anyExported(names []*ast.Ident) bool {
	for _, name := range names {
		if token.IsExported(name.Name) {
			return true
		}
	}
	return false
}

// Misnamed finds files whose name says nothing.
func Misnamed(source Source) []Finding {
	name := source.Path[strings.LastIndex(source.Path, "/")+1:]
	switch strings.TrimSuffix(strings.TrimSuffix(name, ".go"), "_test") {
	case "util", "utils", "common", "helper", "helpers", "types", "misc":
		return []Finding{source.finding(source.AST.Package, "the name %s says nothing: name the file after the type or step it holds", name)}
	}
	return nil
}
