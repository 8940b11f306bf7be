package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"time"
)

// guard checks what needs no credential: where a request comes from, and type and size of its body.
func (d *door) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, check := range []func(*http.Request) *Refusal{d.checkSource, d.checkSize, checkType} {
			if refusal := check(r); refusal != nil {
				d.refuse(w, r.URL.Path, refusal)
				return
			}
		}
		r.Body = http.MaxBytesReader(w, r.Body, d.cfg.MaxBody)
		d.awaitBody(w, r)
		next.ServeHTTP(w, r)
	})
}

// awaitBody bounds the wait for a body that was announced, also where nobody reads it: the server itself waits for its
// end before the connection's next request.
func (d *door) awaitBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		return
	}
	// A writer without deadlines is a test's: it has no slow clients.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(d.cfg.BodyTimeout))
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

// readBody returns the whole body. After it the connection may be silent for as long as it likes.
func (x *Exchange) readBody() ([]byte, error) {
	raw, err := io.ReadAll(x.Request.Body)
	if err == nil {
		_ = http.NewResponseController(x.writer).SetReadDeadline(time.Time{})
		return raw, nil
	}
	var limit *http.MaxBytesError
	switch {
	case errors.As(err, &limit):
		return nil, tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &Refusal{
			Status: http.StatusRequestTimeout, Code: "request_timeout", Sentence: "The request body did not arrive in time.",
		}
	}
	return nil, BadRequest("body_incomplete", "The request body could not be read.")
}
