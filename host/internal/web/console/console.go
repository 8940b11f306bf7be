// Package console serves the page at /ui/: a browser that asks over the strict chat stream, or shows nothing at all.
// Every file is in the binary and readable by whoever reaches the service; what the page may ask for is decided at the
// door. The routes of the conversation itself are left to the face of chat.
package console

import (
	"embed"
	"net/http"

	"github.com/fastreact/fastreact/host/internal/web"
)

//go:embed page
var embedded embed.FS

// New returns the face, to be put behind a door.
func New() (web.Face, error) {
	routes := []web.Route{{Method: http.MethodGet, Path: "/ui", Public: true, Handle: toPage}}
	files, err := web.Assets(embedded, "page")
	if err != nil {
		return web.Face{}, err
	}
	for _, file := range files {
		routes = append(routes, web.Route{Method: http.MethodGet, Path: pathOf(file), Public: true, Handle: serve(file)})
	}
	return web.Face{Routes: append(routes, sessionRoutes()...)}, nil
}

// toPage leads to where the page's relative addresses are right.
func toPage(x *web.Exchange) error {
	return x.Serve(http.RedirectHandler("/ui/", http.StatusPermanentRedirect))
}

// pathOf returns where a file is served. The page itself is the folder.
func pathOf(file web.Asset) string {
	if file.Name == "index.html" {
		return "/ui/"
	}
	return "/ui/" + file.Name
}

// serve answers with a file. A browser asks again each time, and is told when its copy is still right.
func serve(file web.Asset) func(*web.Exchange) error {
	return func(x *web.Exchange) error {
		header := x.Header()
		header.Set("Cache-Control", "no-cache")
		header.Set("ETag", file.Tag)
		header.Set("Content-Security-Policy", web.PageSecurity)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		return x.Serve(file)
	}
}
