package agenttools

import (
	"embed"
	"net/http"

	"github.com/fastreact/fastreact/host/internal/web"
)

//go:embed page
var embedded embed.FS

// The files that answer for other paths than their own.
const (
	indexFile  = "index.html"
	lockedFile = "locked.html"
)

// page is what a person sees at `/`, by path. Who may have a file is the face's matter, headers but the type of its
// content too.
type page struct {
	files  map[string]web.Asset
	closed web.Asset // says how to get in
}

func newPage() (page, error) {
	files, err := web.Assets(embedded, "page")
	if err != nil {
		return page{}, err
	}
	p := page{files: map[string]web.Asset{}}
	for _, file := range files {
		switch file.Name {
		case indexFile:
			p.files["/"] = file
		case lockedFile:
			p.closed = file
		default:
			p.files["/"+file.Name] = file
		}
	}
	return p, nil
}

// serve answers with a file of the page, or reports that there is none at this path.
func (p page) serve(w http.ResponseWriter, r *http.Request) bool {
	file, known := p.files[r.URL.Path]
	if known {
		file.ServeHTTP(w, r)
	}
	return known
}

// open reports whether a file may be had without a session: what the closed page needs to be read.
func (p page) open(path string) bool {
	return path == "/base.css" || path == "/style.css" || path == "/icon.svg"
}

// locked answers `/` where no session comes of it: with the status of the refusal, and what to do about it.
func (p page) locked(w http.ResponseWriter, r *http.Request, status int) {
	w.Header().Set("Content-Type", p.closed.ContentType())
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(p.closed.Text())
	}
}
