package agenttools

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
)

// route is one method on one path. A GET route answers HEAD too.
type route struct {
	method  string
	path    []string // segments; {id} stands for any that is not empty
	invalid run.Code // of an envelope or a query that is not the route's
	keyless bool     // takes {} or nothing
	cursor  bool     // may be asked from a cursor on
	handle  func(v *visit) (reply, error)
}

// newRoute reads "METHOD /path".
func newRoute(spoken string, invalid run.Code, handle func(v *visit) (reply, error)) route {
	method, path, _ := strings.Cut(spoken, " ")
	return route{method: method, path: segments(path), invalid: invalid, handle: handle}
}

// withoutKeys is a route whose body holds nothing.
func (r route) withoutKeys() route {
	r.keyless = true
	return r
}

// withCursor is a route that takes ?cursor=N.
func (r route) withCursor() route {
	r.cursor = true
	return r
}

func segments(path string) []string { return strings.Split(strings.TrimPrefix(path, "/"), "/") }

// match returns the variable segments, if the path is the route's. A path that is written in another way than its plain
// one is nobody's.
func (r route) match(address *url.URL) (vars []string, ok bool) {
	given := segments(address.Path)
	if address.EscapedPath() != address.Path || len(given) != len(r.path) {
		return nil, false
	}
	for i, segment := range r.path {
		switch {
		case segment == "{id}" && given[i] != "":
			vars = append(vars, given[i])
		case segment != given[i]:
			return nil, false
		}
	}
	return vars, true
}

// route finds the route of a request and keeps its variables.
func (v *visit) route() (route, error) {
	method := v.r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	code := routeUnknown
	for _, candidate := range v.routes {
		vars, ok := candidate.match(v.r.URL)
		if !ok {
			continue
		}
		if candidate.method == method {
			v.vars = vars
			return candidate, nil
		}
		code = methodNotAllowed
	}
	return route{}, refused(code)
}

// methods lists what may be done at an address.
func (f *Face) methods(address *url.URL) []string {
	var methods []string
	for _, candidate := range f.routes {
		if _, ok := candidate.match(address); !ok {
			continue
		}
		methods = append(methods, candidate.method)
		if candidate.method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	return slices.Compact(methods)
}

// decode reads the body of a mutation. A route whose body holds nothing takes no body too.
func (r route) decode(raw []byte) (object, error) {
	if r.keyless && len(raw) == 0 {
		return nil, nil
	}
	body, err := run.ReadObject(raw, maxDepth)
	if err != nil {
		return nil, refused(invalidRequest)
	}
	return body, nil
}

// do carries out the route, unless the query, or the body of a route without keys, holds something.
func (r route) do(v *visit) (reply, error) {
	if !r.readQuery(v) || r.keyless && len(v.body) > 0 {
		return reply{}, refused(r.invalid)
	}
	return r.handle(v)
}

// readQuery takes the cursor, where there may be one, and nothing else.
func (r route) readQuery(v *visit) bool {
	query, err := url.ParseQuery(v.r.URL.RawQuery)
	if err != nil || len(query) > 1 {
		return false
	}
	cursors := query["cursor"]
	if !r.cursor || len(cursors) != 1 {
		return len(query) == 0
	}
	v.cursor, err = strconv.ParseInt(cursors[0], 10, 64)
	return err == nil && v.cursor >= 0 && !strings.HasPrefix(cursors[0], "+")
}
