package web

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
)

// resource is all methods of one path.
type resource struct {
	door    *door
	path    string
	methods map[string]endpoint
}

func (d *door) add(resources map[string]resource, face Face) error {
	for _, route := range face.Routes {
		here, known := resources[route.Path]
		if !known {
			here = resource{d, route.Path, map[string]endpoint{}}
			resources[route.Path] = here
			d.shapes[route.Path] = face.Shape
		}
		for _, method := range route.methods() {
			if _, taken := here.methods[method]; taken {
				return fmt.Errorf("route %s %s stands twice", method, route.Path)
			}
			here.methods[method] = endpoint{d, route, face.Translate}
		}
	}
	return nil
}

// methods lists what a route answers. HEAD is GET without the body, which the server itself drops; a stream has nothing
// to say without one, and would be followed to its end.
func (r Route) methods() []string {
	if r.Method == http.MethodGet && !r.Stream {
		return []string{http.MethodGet, http.MethodHead}
	}
	return []string{r.Method}
}

// routes lists the methods, each as a route of its own, without the handlers.
func (here resource) routes() []Route {
	var routes []Route
	for _, method := range slices.Sorted(maps.Keys(here.methods)) {
		route := here.methods[method].route
		route.Method, route.Handle = method, nil
		routes = append(routes, route)
	}
	return routes
}

// ServeHTTP sends a request to its method, or answers 405 with the methods there are.
func (here resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if handler, there := here.methods[r.Method]; there {
		handler.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(here.methods)), ", "))
	here.door.refuse(w, here.path, &Refusal{
		Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Sentence: "Method Not Allowed",
	})
}

func (d *door) nowhere(w http.ResponseWriter, _ *http.Request) {
	d.refuse(w, "", &Refusal{Status: http.StatusNotFound, Code: "not_found", Sentence: "Not Found"})
}

// endpoint is one route behind its checks.
type endpoint struct {
	door      *door
	route     Route
	translate func(error) *Refusal
}

// ServeHTTP authenticates the caller, asks the rate limit and lets the face answer.
func (e endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &Exchange{Request: r, door: e.door, writer: w}
	defer e.rescue(x)
	if err := e.answer(x); err != nil {
		e.fail(x, err)
	}
}

func (e endpoint) answer(x *Exchange) error {
	if !e.route.Public {
		caller, refusal := e.door.identify(x.Request, e.route)
		if refusal != nil {
			return refusal
		}
		x.Caller = caller
		if refusal := e.door.limit(caller, x.Request); refusal != nil {
			return refusal
		}
	}
	return e.route.Handle(x)
}

// fail shows an error to the client, unless the answer has begun: then only the log hears of it.
func (e endpoint) fail(x *Exchange, err error) {
	refusal := e.refusal(err)
	if level, unusual := severity(refusal.Status); unusual {
		e.door.cfg.Log.Log(x.Request.Context(), level, "request failed", slog.String("route", e.route.Path),
			slog.String("code", refusal.Code), slog.Any("error", err))
	}
	if !x.begun {
		e.door.refuse(x.writer, e.route.Path, refusal)
	}
}

// severity says how bad a failure is. What the client is told to try again later is no defect.
func severity(status int) (level slog.Level, unusual bool) {
	if status == http.StatusServiceUnavailable {
		return slog.LevelWarn, true
	}
	return slog.LevelError, status >= http.StatusInternalServerError
}

func (e endpoint) refusal(err error) *Refusal {
	if refusal, ok := err.(*Refusal); ok {
		return refusal
	}
	if e.translate != nil {
		if refusal := e.translate(err); refusal != nil {
			return refusal
		}
	}
	return internal()
}

// rescue turns a panic of a handler into an internal error. An answer that has begun is cut off.
func (e endpoint) rescue(x *Exchange) {
	cause := recover()
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler {
		panic(cause)
	}
	e.door.cfg.Log.Error("handler panicked", slog.String("route", e.route.Path),
		slog.Any("panic", cause), slog.String("stack", string(debug.Stack())))
	if x.begun {
		panic(http.ErrAbortHandler)
	}
	e.door.refuse(x.writer, e.route.Path, internal())
}
