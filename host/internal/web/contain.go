package web

import (
	"log/slog"
	"net/http"
	"runtime/debug"
)

// Contained lets a handler answer that is no face of the door. Where it panics, the cause goes to the log and instead
// answers; a handler that writes its answer as its last step has then written nothing.
func Contained(log *slog.Logger, handle, instead http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if cause == http.ErrAbortHandler {
				panic(cause)
			}
			log.Error("handler panicked", slog.Any("panic", cause), slog.String("stack", string(debug.Stack())))
			instead(w, r)
		}()
		handle(w, r)
	})
}
