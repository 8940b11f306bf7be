package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrTooLarge reports an event or an answer over Config.MaxEventBytes.
var ErrTooLarge = errors.New("answer is larger than this client reads")

// Error is an answer of the service that is no success.
type Error struct {
	Status     int           // HTTP status
	Code       string        // stable code, such as "not_found"; empty when the service sent none
	Message    string        // what the service says, and each field that it refused
	RetryAfter time.Duration // how long the service asks to wait; 0 when it does not say
	First      *int64        // of events_compacted: sequence of the first event that is still there
}

// Error shows the status, the code and the sentence.
func (e *Error) Error() string {
	text := fmt.Sprintf("service answered %d", e.Status)
	if e.Code != "" {
		text += " " + e.Code
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// IsCode reports whether err is an answer of the service with this code.
func IsCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// IsStatus reports whether err is an answer of the service with this HTTP status.
func IsStatus(err error, status int) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == status
}

// errorOf reads the error object of an answer, or what can be said without one.
func errorOf(response *http.Response, text []byte) *Error {
	var body struct {
		Detail json.RawMessage `json:"detail"`
		Error  struct {
			Code    string `json:"code"`
			Message string `json:"message"`
			First   *int64 `json:"first_available_sequence"`
		} `json:"error"`
	}
	e := &Error{Status: response.StatusCode, Message: http.StatusText(response.StatusCode)}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	if json.Unmarshal(text, &body) != nil {
		return e
	}
	var sentence string
	if json.Unmarshal(body.Detail, &sentence) == nil && sentence != "" {
		e.Message = sentence
	}
	if body.Error.Message != "" {
		e.Message = body.Error.Message
	}
	e.Message += faultsOf(body.Detail)
	e.Code, e.First = body.Error.Code, body.Error.First
	return e
}

// faultsOf names the fields that a validation refused, each with what is wrong; empty when detail holds none.
func faultsOf(detail json.RawMessage) string {
	var faults []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	if json.Unmarshal(detail, &faults) != nil {
		return ""
	}
	var text strings.Builder
	for _, fault := range faults {
		text.WriteString(" (")
		for i, step := range fault.Loc {
			if i > 0 {
				text.WriteByte('.')
			}
			fmt.Fprint(&text, step)
		}
		text.WriteString(": " + fault.Msg + ")")
	}
	return text.String()
}
