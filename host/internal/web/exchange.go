package web

import (
	"fmt"
	"net/http"

	"github.com/gorilla/mux"
)

// Exchange is one request and its answer. Everything that leaves passes the mask. It belongs to one goroutine.
type Exchange struct {
	Request *http.Request
	Caller  Caller

	door   *door
	writer http.ResponseWriter
	begun  bool
}

// Var returns the value of a variable of the route's path.
func (x *Exchange) Var(name string) string { return mux.Vars(x.Request)[name] }

// Header returns the header of the answer.
func (x *Exchange) Header() http.Header { return x.writer.Header() }

// Bound limits the body to fewer bytes than the door does. A longer one is refused when it is read.
func (x *Exchange) Bound(bytes int64) {
	x.Request.Body = http.MaxBytesReader(x.writer, x.Request.Body, bytes)
}

// Object reads the body as one JSON object. An empty body is nil.
func (x *Exchange) Object() (map[string]any, error) {
	raw, err := x.readBody()
	if err != nil || len(raw) == 0 {
		return nil, err
	}
	object, refusal := DecodeObject(raw)
	if refusal != nil {
		return nil, refusal
	}
	return object, nil
}

// JSON answers with a JSON value.
func (x *Exchange) JSON(status int, value any) error {
	encoded, err := Encode(value)
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	x.begun = true
	writeJSON(x.writer, status, x.door.mask.JSON(encoded))
	return nil
}

// Nothing answers that it was done, without a body.
func (x *Exchange) Nothing() error {
	x.begun = true
	x.writer.Header().Set("Cache-Control", "no-store")
	x.writer.WriteHeader(http.StatusNoContent)
	return nil
}

// Serve lets a ready-made handler answer. What it writes is not masked.
func (x *Exchange) Serve(handler http.Handler) error {
	x.begun = true
	handler.ServeHTTP(x.writer, x.Request)
	return nil
}
