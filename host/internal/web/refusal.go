package web

import (
	"net/http"
	"strconv"
	"time"
)

// Refusal is an answer that is not what the client asked for. All of it is public.
type Refusal struct {
	Status     int
	Code       string        // stable
	Sentence   string        // for people
	Fields     []FieldError  // what is wrong with the body; replaces the sentence in "detail"
	RetryAfter time.Duration // 0 = the header is left out; less than a second counts as one
	First      *int64        // sequence of the first event that is there; nil unless earlier ones were asked for
}

// Error returns code and sentence.
func (r *Refusal) Error() string { return r.Code + ": " + r.Sentence }

// FieldError is one thing that is wrong with a request, in the shape that clients of the original parse.
type FieldError struct {
	Type  string `json:"type"`
	Loc   []any  `json:"loc"` // path of strings and numbers, such as "body", "temperature"
	Msg   string `json:"msg"`
	Input any    `json:"input"`
}

// Invalid returns the refusal of a request with the given faults.
func Invalid(fields ...FieldError) *Refusal {
	return &Refusal{
		Status: http.StatusUnprocessableEntity, Code: "invalid_request",
		Sentence: "The request is not valid.", Fields: fields,
	}
}

// BadRequest returns a refusal with status 400.
func BadRequest(code, sentence string) *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Code: code, Sentence: sentence}
}

func internal() *Refusal {
	return &Refusal{
		Status: http.StatusInternalServerError, Code: "internal_error",
		Sentence: "The service could not finish this request.",
	}
}

type refusalBody struct {
	Detail any       `json:"detail"`
	Error  errorBody `json:"error"`
}

type errorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	First   *int64 `json:"first_available_sequence,omitempty"`
}

func (r *Refusal) body() refusalBody {
	body := refusalBody{Detail: r.Sentence, Error: errorBody{r.Code, r.Sentence, r.First}}
	if len(r.Fields) > 0 {
		fields := make([]FieldError, len(r.Fields))
		for i, field := range r.Fields {
			field.Input = brief(field.Input)
			fields[i] = field
		}
		body.Detail = fields
	}
	return body
}

// maxEcho bounds, in bytes, how much of a wrong value is shown back.
const maxEcho = 1000

// brief returns value, or null where its JSON is long.
func brief(value any) any {
	encoded, err := Encode(value)
	if err != nil || len(encoded) > maxEcho {
		return nil
	}
	return value
}

// refuse writes the refusal of a request for a path. It is the last resort: what cannot be written is lost.
func (d *door) refuse(w http.ResponseWriter, path string, r *Refusal) {
	if r.RetryAfter > 0 {
		seconds := max(1, int((r.RetryAfter+time.Second-1)/time.Second))
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	if r.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	shape := d.shapes[path]
	if shape == nil {
		shape = func(r *Refusal) any { return r.body() }
	}
	encoded, err := Encode(shape(r))
	if err != nil {
		encoded, _ = Encode(shape(internal()))
	}
	writeJSON(w, r.Status, d.mask.JSON(encoded))
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
