package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Finding is one place where a rule is broken.
type Finding struct {
	At   string // file:line
	Rule string // what is wrong, in a sentence
}

// String shows the place, then the rule.
func (f Finding) String() string { return f.At + ": " + f.Rule }

// Source is one parsed Go file.
type Source struct {
	Path string // within the module
	Room string // folder of Path
	Test bool
	AST  *ast.File
	Text []byte
	set  *token.FileSet
}

func (s Source) line(at token.Pos) int { return s.set.Position(at).Line }

// finding says that a rule is broken at a position.
func (s Source) finding(at token.Pos, rule string, args ...any) Finding {
	return Finding{fmt.Sprintf("%s:%d", s.Path, s.line(at)), fmt.Sprintf(rule, args...)}
}

// Tree is a module's sources.
type Tree struct {
	Module   string   // path of the module
	Required []string // third-party modules of go.mod
	Sources  []Source
	Texts    map[string][]byte // every text file by path, Go files too
}

// ReadTree reads the module in a folder. Folders with a go.mod of their own are other modules.
func ReadTree(folder string) (Tree, error) {
	tree := Tree{Texts: map[string][]byte{}}
	files := os.DirFS(folder)
	gomod, err := fs.ReadFile(files, "go.mod")
	if err != nil {
		return Tree{}, fmt.Errorf("read module: %w", err)
	}
	tree.readModule(string(gomod))
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && foreign(files, name):
			return fs.SkipDir
		case entry.Type().IsRegular() && isText(name):
			return tree.add(files, name)
		}
		return nil
	})
	if err != nil {
		return Tree{}, fmt.Errorf("read sources: %w", err)
	}
	return tree, nil
}

// readModule takes the module's path and requirements from its go.mod.
func (t *Tree) readModule(gomod string) {
	for _, line := range strings.Split(gomod, "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && words[0] == "module":
			t.Module = words[1]
		case len(words) >= 3 && words[0] == "require":
			t.Required = append(t.Required, words[1])
		case len(words) >= 2 && strings.HasPrefix(words[1], "v"):
			t.Required = append(t.Required, words[0])
		}
	}
}

// foreign reports whether a folder is none of the module's own.
func foreign(files fs.FS, folder string) bool {
	switch name := path.Base(folder); {
	case strings.HasPrefix(name, "."), name == "node_modules", name == "testdata":
		return true
	}
	switch folder {
	case "bin", "data":
		return true
	}
	_, err := fs.Stat(files, path.Join(folder, "go.mod"))
	return err == nil
}

func isText(name string) bool {
	switch path.Ext(name) {
	case ".go", ".md", ".txt", ".json", ".yaml", ".yml", ".sh", ".mod", ".html", ".c", ".h", ".ts":
		return true
	}
	base := path.Base(name)
	return base == "Makefile" || base == "README" || base == "Dockerfile"
}

func (t *Tree) add(files fs.FS, name string) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	t.Texts[name] = text
	if path.Ext(name) != ".go" {
		return nil
	}
	source, err := parse(name, text)
	if err == nil {
		t.Sources = append(t.Sources, source)
	}
	return err
}

func parse(name string, text []byte) (Source, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments)
	if err != nil {
		return Source{}, fmt.Errorf("parse %s: %w", name, err)
	}
	return Source{
		Path: name, Room: path.Dir(name), Test: strings.HasSuffix(name, "_test.go"),
		AST: file, Text: text, set: set,
	}, nil
}

func lines(text []byte) int { return bytes.Count(text, []byte("\n")) }
