package house

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// moduleRoot is the module's folder, seen from this package.
const moduleRoot = "../../.."

func TestEveryPackageAndImportIsPlanned(t *testing.T) {
	tell(t, Unplanned(module(t), plan(t)))
}

func TestEveryRoomHasAPromise(t *testing.T) {
	for _, room := range plan(t) {
		if room.Path != testsRoom && len(room.Promise) < 10 {
			t.Errorf("floorplan.txt:%d: %s has no promise", room.Line, room.Path)
		}
	}
}

func TestFilesFunctionsAndInterfacesFitInTheHead(t *testing.T) { tell(t, each(t, Oversized)) }

func TestEveryPackageAndExportedNameIsDocumented(t *testing.T) {
	tell(t, Undocumented(module(t).Sources))
}

func TestFilesAreNamedAfterWhatTheyHold(t *testing.T) { tell(t, each(t, Misnamed)) }

func TestNoPackageVariableChanges(t *testing.T) { tell(t, perPackage(module(t))) }

func TestCodeBehavesAsTheStyleSays(t *testing.T) { tell(t, each(t, Misbehaving)) }

func TestNothingIsLeftForLater(t *testing.T) {
	var found []Finding
	for name, text := range module(t).Texts {
		found = append(found, Unfinished(name, text)...)
	}
	tell(t, found)
}

func TestEveryExceptionExcusesSomething(t *testing.T) {
	found := append(append(each(t, Oversized), each(t, Misbehaving)...), perPackage(module(t))...)
	for _, exception := range excused(t) {
		if !slices.ContainsFunc(found, exception.excuses) {
			t.Errorf("exceptions.txt: %s | %s excuses nothing", exception.File, exception.Words)
		}
	}
}

// read parses the module once for all tests.
var read = sync.OnceValues(func() (Tree, error) { return ReadTree(moduleRoot) })

func module(t *testing.T) Tree {
	t.Helper()
	tree, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func plan(t *testing.T) Plan {
	t.Helper()
	plan, err := ReadPlan(floorplan)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func excused(t *testing.T) []Exception {
	t.Helper()
	all, err := ReadExceptions(exceptions)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func each(t *testing.T, rule func(Source) []Finding) []Finding {
	t.Helper()
	var found []Finding
	for _, source := range module(t).Sources {
		found = append(found, rule(source)...)
	}
	return found
}

// perPackage looks for package variables that change.
func perPackage(tree Tree) []Finding {
	packages := map[string][]Source{}
	for _, source := range tree.Sources {
		key := source.Room + " " + source.AST.Name.Name
		packages[key] = append(packages[key], source)
	}
	var found []Finding
	for _, sources := range packages {
		found = append(found, Mutable(sources)...)
	}
	return found
}

// tell reports every finding that no exception excuses, in the order of files.
func tell(t *testing.T, found []Finding) {
	t.Helper()
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.String(), b.String()) })
	for _, finding := range found {
		if !slices.ContainsFunc(excused(t), func(e Exception) bool { return e.excuses(finding) }) {
			t.Error(finding)
		}
	}
}
