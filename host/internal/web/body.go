package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
)

// guard checks what needs no credential: where a request comes from, and type and size of its body.
func (d *door) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, check := range []func(*http.Request) *Refusal{d.checkSource, d.checkSize, checkType} {
			if refusal := check(r); refusal != nil {
				d.refuse(w, refusal)
				return
			}
		}
		r.Body = http.MaxBytesReader(w, r.Body, d.cfg.MaxBody)
		next.ServeHTTP(w, r)
	})
}

// checkSize refuses a body that says it is too large. One that does not say is cut while it is read.
func (d *door) checkSize(r *http.Request) *Refusal {
	if r.ContentLength > d.cfg.MaxBody {
		return tooLarge()
	}
	return nil
}

func tooLarge() *Refusal {
	return &Refusal{
		Status: http.StatusRequestEntityTooLarge, Code: "request_too_large",
		Sentence: "The request body is too large.",
	}
}

// checkType refuses a mutation whose body is not declared as JSON: the types that a page may send without asking
// first are none of ours.
func checkType(r *http.Request) *Refusal {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	if r.ContentLength == 0 {
		return nil
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && media == "application/json" {
		return nil
	}
	return &Refusal{
		Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
		Sentence: "The body must be sent as application/json.",
	}
}

// readBody returns the whole body.
func readBody(r *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		return raw, nil
	}
	var limit *http.MaxBytesError
	if errors.As(err, &limit) {
		return nil, tooLarge()
	}
	return nil, BadRequest("body_incomplete", "The request body could not be read.")
}
