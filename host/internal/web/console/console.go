// Package console serves the page at /ui/: a browser that asks over the strict chat stream, or shows nothing at all.
// Every file is in the binary and readable by whoever reaches the service; what the page may ask for is decided at the
// door. The routes of the conversation itself are left to the face of chat.
package console

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

	"github.com/fastreact/fastreact/host/internal/web"
)

//go:embed page
var embedded embed.FS

// security is what a browser must not do with the page: run or load anything that is not one of its files, or show it
// inside another page.
const security = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// New returns the face, to be put behind a door.
func New() (web.Face, error) {
	routes := []web.Route{{Method: http.MethodGet, Path: "/ui", Public: true, Handle: toPage}}
	files, err := fs.ReadDir(embedded, "page")
	if err != nil {
		return web.Face{}, fmt.Errorf("read page: %w", err)
	}
	for _, entry := range files {
		file, err := readFile(entry.Name())
		if err != nil {
			return web.Face{}, err
		}
		routes = append(routes, web.Route{Method: http.MethodGet, Path: file.path(), Public: true, Handle: file.serve})
	}
	return web.Face{Routes: append(routes, sessionRoutes()...)}, nil
}

// toPage leads to where the page's relative addresses are right.
func toPage(x *web.Exchange) error {
	return x.Serve(http.RedirectHandler("/ui/", http.StatusPermanentRedirect))
}

// file is one file of the page.
type file struct {
	name string
	text []byte
	tag  string // changes with the text
}

func readFile(name string) (file, error) {
	text, err := embedded.ReadFile("page/" + name)
	if err != nil {
		return file{}, fmt.Errorf("read page: %w", err)
	}
	digest := sha256.Sum256(text)
	return file{name, text, `"` + hex.EncodeToString(digest[:12]) + `"`}, nil
}

// path returns where the file is served. The page itself is the folder.
func (f file) path() string {
	if f.name == "index.html" {
		return "/ui/"
	}
	return "/ui/" + f.name
}

// serve answers with the file. A browser asks again each time, and is told when its copy is still right.
func (f file) serve(x *web.Exchange) error {
	header := x.Header()
	header.Set("Content-Type", contentType(f.name))
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", f.tag)
	header.Set("Content-Security-Policy", security)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	return x.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, f.name, time.Time{}, bytes.NewReader(f.text))
	}))
}

// contentType does not ask the machine what its files mean.
func contentType(name string) string {
	switch path.Ext(name) {
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
