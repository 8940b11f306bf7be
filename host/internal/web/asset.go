package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"time"
)

//go:embed parts
var shared embed.FS

// PageSecurity is what a browser must not do with a page (Content-Security-Policy): run or load anything that is not one
// of its files, or show it inside another page.
const PageSecurity = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// An Asset is one file of a page.
type Asset struct {
	Name string // without a folder
	Tag  string // an HTTP entity tag, which changes with the text
	text []byte
}

// Assets returns the files of a page: those of a folder, and those that every page shares (parts).
func Assets(files fs.FS, folder string) ([]Asset, error) {
	own, err := readAssets(files, folder)
	if err != nil {
		return nil, err
	}
	parts, err := readAssets(shared, "parts")
	return append(own, parts...), err
}

func readAssets(files fs.FS, folder string) ([]Asset, error) {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return nil, fmt.Errorf("read page: %w", err)
	}
	var assets []Asset
	for _, entry := range entries {
		text, err := fs.ReadFile(files, path.Join(folder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read page: %w", err)
		}
		digest := sha256.Sum256(text)
		assets = append(assets, Asset{entry.Name(), `"` + hex.EncodeToString(digest[:12]) + `"`, text})
	}
	return assets, nil
}

// ContentType does not ask the machine what its files mean.
func (a Asset) ContentType() string {
	switch path.Ext(a.Name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}

// ServeHTTP answers with the file. Other headers than its type are the caller's.
func (a Asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", a.ContentType())
	http.ServeContent(w, r, a.Name, time.Time{}, bytes.NewReader(a.text))
}

// Text returns the file's bytes, which must not be changed.
func (a Asset) Text() []byte { return a.text }
