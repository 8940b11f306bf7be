package host

import (
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/host/internal/web"
)

// trouble is why what is written is not what serves. Its texts are safe to show to operators.
type trouble struct {
	since   time.Time // of the first of the reloads that failed in a row
	faults  []web.FieldError
	plugins map[string]string // name of a serving plugin → why its file was not taken up
}

// reason returns every reason on one line.
func (t *trouble) reason() string {
	var reasons []string
	for _, fault := range t.faults {
		reasons = append(reasons, fault.Msg)
	}
	return strings.Join(reasons, "; ")
}

// remember keeps why a reload failed, for whoever looks. nil ends the trouble.
func (s *Server) remember(err error) {
	if err == nil {
		s.trouble.Store(nil)
		return
	}
	now := &trouble{since: time.Now(), faults: faultsOf(err), plugins: map[string]string{}}
	if before := s.trouble.Load(); before != nil {
		now.since = before.since
	}
	for _, refused := range refusedIn(err) {
		if refused.plugin != "" {
			now.plugins[refused.plugin] = refused.reason()
		}
	}
	s.trouble.Store(now)
}

// faultsOf puts the reasons why nothing was reloaded into the words of a face.
func faultsOf(err error) []web.FieldError {
	var faults []web.FieldError
	add := func(path, message string) {
		faults = append(faults, web.FieldError{Type: "value_error", Loc: []any{"config", path}, Msg: message})
	}
	var invalid *ConfigError
	refused := refusedIn(err)
	switch {
	case errors.As(err, &invalid):
		for _, problem := range invalid.Problems {
			problem.Source = ""
			add(problem.Path, problem.Error())
		}
	case len(refused) > 0:
		for _, r := range refused {
			path := "plugins"
			if r.entry >= 0 {
				path = element("plugins.load", r.entry)
			}
			add(path, oneLine(r.where())+": "+r.reason())
		}
	default:
		add("", "the configuration file cannot be read")
	}
	return faults
}

// refusedIn lists the plugins of which an error tells.
func refusedIn(err error) []*refusedPlugin {
	var all []*refusedPlugin
	for ; err != nil; err = errors.Unwrap(err) {
		if one, found := err.(*refusedPlugin); found {
			return append(all, one)
		}
		if many, joined := err.(interface{ Unwrap() []error }); joined {
			for _, each := range many.Unwrap() {
				all = append(all, refusedIn(each)...)
			}
		}
	}
	return all
}

// reason says why, without anything that the module said while it ran.
func (r *refusedPlugin) reason() string {
	var failure *wasm.Failure
	switch {
	case errors.As(r.err, &failure) && failure.Code != run.PluginUnavailable:
		return "it cannot be started: " + string(failure.Code) + "; the log says more"
	case failure != nil:
		return oneLine(failure.Err.Error())
	}
	return oneLine(r.err.Error())
}

// longestReason bounds, in characters, what is shown of one refused plugin.
const longestReason = 600

// oneLine makes a text one printable line.
func oneLine(text string) string {
	printable := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, "?")))
	if len(printable) > longestReason {
		return string(printable[:longestReason-1]) + "…"
	}
	return string(printable)
}
