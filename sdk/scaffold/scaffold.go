// Package scaffold makes the folder of a new plugin: it builds and passes its tests as it is, without a clone of this
// repository and without a network, because it brings the SDK along.
package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/c"
)

// sdkFolder is where a plugin in Go keeps the SDK, as a Go module of its own.
const sdkFolder = "fastreact"

// pluginName is what a manifest accepts as a name.
const pluginName = `^[a-z0-9][a-z0-9-]{0,63}$`

//go:embed templates
var templates embed.FS

// Errors of a wish that cannot be met. Nothing is written then.
var (
	ErrLang     = errors.New("a plugin is written in go or c")
	ErrKind     = errors.New("a plugin is a tool, a policy, a scope or a guard")
	ErrName     = errors.New("a plugin's name has lower case letters, digits and hyphens, such as only-notes")
	ErrNotEmpty = errors.New("the folder is not empty")
)

// Langs lists the languages there are templates for.
func Langs() []string { return []string{"go", "c"} }

// Wish is what a new plugin shall be.
type Wish struct {
	Dir   string
	Name  string // empty: the folder's name
	Kind  sdk.Kind
	Lang  string
	Force bool // write into a folder that is not empty; files of the same names are replaced
}

// Write makes the folder and returns what was written, as paths in it, in order. The SDK's files are one entry.
func Write(wish Wish) ([]string, error) {
	if err := wish.check(); err != nil {
		return nil, err
	}
	files, err := wish.files()
	if err != nil {
		return nil, err
	}
	var written []string
	for name, text := range files {
		if err := place(filepath.Join(wish.Dir, filepath.FromSlash(name)), text); err != nil {
			return nil, err
		}
		if strings.HasPrefix(name, sdkFolder+"/") {
			name = sdkFolder + "/"
		}
		written = append(written, name)
	}
	slices.Sort(written)
	return slices.Compact(written), nil
}

// check fills in the name and refuses what cannot be.
func (w *Wish) check() error {
	if w.Name == "" {
		whole, err := filepath.Abs(w.Dir)
		if err != nil {
			return fmt.Errorf("find folder: %w", err)
		}
		w.Name = filepath.Base(whole)
	}
	switch {
	case !slices.Contains(Langs(), w.Lang):
		return fmt.Errorf("%w, not in %q", ErrLang, w.Lang)
	case !w.Kind.Valid():
		return fmt.Errorf("%w, not a %q", ErrKind, w.Kind)
	case !regexp.MustCompile(pluginName).MatchString(w.Name):
		return fmt.Errorf("%w; %q is none", ErrName, w.Name)
	}
	entries, err := os.ReadDir(w.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read folder: %w", err)
	}
	if len(entries) > 0 && !w.Force {
		return fmt.Errorf("%s: %w", w.Dir, ErrNotEmpty)
	}
	return nil
}

// files returns every file of the plugin by its path.
func (w *Wish) files() (map[string]string, error) {
	files := map[string]string{}
	for _, part := range []string{w.Lang, string(w.Kind), string(w.Kind) + "/" + w.Lang, string(w.Kind) + "/cases"} {
		if err := w.fill(files, part); err != nil {
			return nil, err
		}
	}
	if w.Lang == "c" {
		files[c.HeaderFile] = c.Header()
		return files, nil
	}
	return files, addSDK(files)
}

// fill takes over the files of one folder of templates.
func (w *Wish) fill(files map[string]string, part string) error {
	below := ""
	if path.Base(part) == "cases" {
		below = "cases/"
	}
	entries, err := templates.ReadDir(path.Join("templates", part))
	if err != nil {
		return fmt.Errorf("read templates: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		text, err := templates.ReadFile(path.Join("templates", part, entry.Name()))
		if err != nil {
			return fmt.Errorf("read template: %w", err)
		}
		files[below+strings.TrimSuffix(entry.Name(), ".tmpl")] = w.named(string(text))
	}
	return nil
}

func (w *Wish) named(text string) string {
	return strings.NewReplacer("PLUGIN_NAME", w.Name, "PLUGIN_KIND", string(w.Kind)).Replace(text)
}

// addSDK adds the SDK as a Go module without tests.
func addSDK(files map[string]string) error {
	sources := sdk.Sources()
	files[sdkFolder+"/go.mod"] = "module github.com/fastreact/fastreact\n\ngo 1.26.0\n"
	return fs.WalkDir(sources, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(sources, name)
		if err != nil {
			return fmt.Errorf("read the SDK: %w", err)
		}
		files[path.Join(sdkFolder, "sdk", name)] = string(text)
		return nil
	})
}

func place(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}
