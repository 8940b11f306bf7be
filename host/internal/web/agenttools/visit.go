package agenttools

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fastreact/fastreact/host/internal/web"
)

// visit is one request on its way through the checks. It belongs to one goroutine.
type visit struct {
	*Face
	w        http.ResponseWriter
	r        *http.Request
	session  session
	vars     []string // the variable segments of the path, in their order
	body     object   // of a mutation; nil = empty
	cursor   int64    // after which events are asked for
	drained  bool     // the request's body was read to its end
	answered bool     // by the page
}

// reply is the answer of a route.
type reply struct {
	status int
	value  any    // encoded as JSON, unless there is something else:
	to     string // a redirection
	cookie string // with it
}

func done(value any) reply { return reply{status: http.StatusOK, value: value} }

// answer answers a request. What a route says is written whole, as the last step.
func (f *Face) answer(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	f.allow(w)
	v := &visit{Face: f, w: w, r: r}
	said, err := v.serve()
	switch {
	case v.answered:
	case err != nil:
		v.refuse(err)
	case said.to != "":
		v.redirect(said)
	default:
		v.write(said.status, said.value)
	}
}

// allow gives the client its time to read an answer. It begins anew when the answer is there, however long that took.
func (f *Face) allow(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(f.cfg.WriteTimeout)) // a test's writer has none
}

// serve asks in the order of the contract.
func (v *visit) serve() (reply, error) {
	if err := v.checkHost(v.r); err != nil {
		return reply{}, err
	}
	if reads(v.r) {
		return v.read()
	}
	return v.mutate()
}

// read answers a request that changes nothing.
func (v *visit) read() (said reply, err error) {
	if v.launches() {
		return v.launch()
	}
	if v.session, err = v.checkReader(v.r); err != nil {
		return v.showStranger(err)
	}
	if !bodiless(v.r) {
		return reply{}, refused(invalidRequest)
	}
	v.r.Header.Del("Range") // files are small, and an answer about ranges would lack the headers of the others
	if v.page.serve(v.w, v.r) {
		v.answered = true
		return reply{}, nil
	}
	leave, err := v.enter(v.readers)
	if err != nil {
		return reply{}, err
	}
	defer leave()
	here, err := v.route()
	if err != nil {
		return reply{}, err
	}
	return here.do(v)
}

// mutate answers a request that wants something to happen.
func (v *visit) mutate() (said reply, err error) {
	if v.session, err = v.checkMutation(v.r); err != nil {
		return reply{}, err
	}
	if !v.pace.take() {
		return reply{}, refused(rateLimited)
	}
	here, err := v.route()
	if err != nil {
		return reply{}, err
	}
	leave, err := v.enter(v.writers)
	if err != nil {
		return reply{}, err
	}
	defer leave()
	raw, err := v.readBody(v.w, v.r)
	if err != nil {
		return reply{}, err
	}
	v.drained = true
	if v.body, err = here.decode(raw); err != nil {
		return reply{}, err
	}
	return here.do(v)
}

// showStranger answers somebody who gets no session: with what leads to one, where a browser asks for the page.
func (v *visit) showStranger(without error) (reply, error) {
	path := v.r.URL.Path
	switch {
	case path == "/" && strings.Contains(v.r.Header.Get("Accept"), "text/html"):
		status, _ := v.public(without)
		v.page.locked(v.w, v.r, status)
		v.answered = true
	case v.page.open(path):
		v.answered = v.page.serve(v.w, v.r)
	}
	return reply{}, without
}

// launches reports whether a browser follows a launch address. HEAD is no opening: whoever only looks does not use up
// the key.
func (v *visit) launches() bool {
	return v.r.Method == http.MethodGet && v.r.URL.Path == "/" && v.r.URL.Query().Has("launch")
}

// launch opens a session and leads to the page, so that the key does not stay in the address.
func (v *visit) launch() (reply, error) {
	query, err := url.ParseQuery(v.r.URL.RawQuery)
	if err != nil || len(query) != 1 || len(query["launch"]) != 1 {
		return v.showStranger(refused(launchRejected))
	}
	token, next, ok := v.sessions.open(query.Get("launch"), v.sessions.cookieOf(v.r))
	if !ok {
		return v.showStranger(refused(launchRejected))
	}
	if next != "" {
		v.announce(next)
	}
	return reply{status: http.StatusSeeOther, to: "/", cookie: v.sessions.cookie(token)}, nil
}

func (v *visit) redirect(said reply) {
	header := v.w.Header()
	header.Set("Set-Cookie", said.cookie)
	header.Set("Location", said.to)
	header.Set("Content-Length", "0")
	v.w.WriteHeader(said.status)
}

// refuse writes the public side of an error. Where a body was not read to its end, the connection ends with it.
func (v *visit) refuse(err error) {
	status, shown := v.public(err)
	header := v.w.Header()
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		header.Set("Retry-After", "1")
	case http.StatusMethodNotAllowed:
		header.Set("Allow", strings.Join(v.methods(v.r.URL), ", "))
	}
	if !v.drained && (!reads(v.r) || !bodiless(v.r)) {
		header.Set("Connection", "close")
		_ = http.NewResponseController(v.w).SetReadDeadline(time.Now().Add(lingering))
	}
	v.write(status, shown)
}

// write sends a value. An encoded result stays as it is encoded, but for secrets.
func (v *visit) write(status int, value any) {
	encoded, err := web.Encode(value)
	if err != nil {
		var shown problem
		status, shown = v.public(err)
		encoded, _ = web.Encode(shown)
	}
	encoded = v.cfg.Mask.JSON(encoded)
	v.allow(v.w)
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Header().Set("Content-Length", strconv.Itoa(len(encoded)))
	v.w.WriteHeader(status)
	_, _ = v.w.Write(encoded)
}
