package house

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

// Unplanned finds packages and imports that the plan does not list, and rooms of the plan that do not exist.
func Unplanned(tree Tree, plan Plan) []Finding {
	var found []Finding
	built := map[string]bool{testsRoom: true}
	for _, source := range tree.Sources {
		room, planned := plan[source.Room]
		if !planned && !built[source.Room] {
			found = append(found, source.finding(source.AST.Package, "package %s is not in floorplan.txt", source.Room))
		}
		built[source.Room] = true
		for _, spec := range source.AST.Imports {
			if rule := unplannedImport(tree, plan, source, room, spec); rule != "" {
				found = append(found, source.finding(spec.Pos(), "%s", rule))
			}
		}
	}
	for _, room := range plan {
		if !built[room.Path] {
			found = append(found, Finding{"floorplan.txt:" + strconv.Itoa(room.Line), room.Path + " does not exist"})
		}
	}
	return found
}

// unplannedImport says what is wrong with one import, or nothing.
func unplannedImport(tree Tree, plan Plan, source Source, room Room, spec *ast.ImportSpec) string {
	imported, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return "the import cannot be read"
	}
	if inside, ours := strings.CutPrefix(imported, tree.Module+"/"); ours {
		if source.Test || slices.Contains(room.Imports, inside) {
			return ""
		}
		return room.Path + " may not import " + inside
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") {
		return ""
	}
	module := tree.moduleOf(imported)
	switch {
	case module == "":
		return imported + " belongs to no module of go.mod"
	case slices.Contains(room.Modules, module), source.Test && slices.Contains(plan[testsRoom].Modules, module):
		return ""
	}
	return room.Path + " may not use the module " + module
}

// moduleOf returns the required module that holds a package.
func (t Tree) moduleOf(imported string) string {
	longest := ""
	for _, module := range t.Required {
		within := imported == module || strings.HasPrefix(imported, module+"/")
		if within && len(module) > len(longest) {
			longest = module
		}
	}
	return longest
}
