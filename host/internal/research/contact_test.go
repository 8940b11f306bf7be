package research_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/research"
)

// asked carries the first action of a plan out and returns it.
func (w *world) asked() research.Action {
	w.t.Helper()
	desk, plan := w.granted()
	return must(w.t)(desk.Campaign(w.t.Context(), space, launch(plan, plan.Actions[0].ActionID))).Actions[0]
}

func says(contentType, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{contentType}
		_, _ = w.Write([]byte(body))
	}
}

func TestAProviderIsToldTheQuestionAndTheSubjectAndNothingElse(t *testing.T) {
	w := newWorld(t)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(w.provider.url)
	if err != nil {
		t.Fatal(err)
	}
	jar.SetCookies(target, []*http.Cookie{{Name: "who", Value: "me"}})
	w.providers[0].Client = &http.Client{Jar: jar}
	action := w.asked()
	got := w.provider.requests()[0]
	want := url.Values{
		"edition": {"2"}, "action_id": {action.ActionID}, "capability": {action.CapabilityID}, "subject": {object}, "question": {"Who signed it?"},
	}
	if diff := cmp.Diff(want, got.URL.Query()); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	header := http.Header{
		"Accept": {"application/json, text/*;q=0.5"}, "Accept-Encoding": {"identity"}, "User-Agent": {"fastreact"},
	}
	if diff := cmp.Diff(header, got.Header); diff != "" || got.Method != http.MethodGet || got.ContentLength != 0 {
		t.Errorf("%s with %d bytes, header (-want +got):\n%s", got.Method, got.ContentLength, diff)
	}
}

func TestAnAnswerThatCannotBeTrustedIsNotPublished(t *testing.T) {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, _ = writer.Write([]byte("hidden"))
	_ = writer.Close()
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request){
		"a byte too much": says("text/plain", strings.Repeat("x", 4097)),
		"no type": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = w.Write([]byte("hidden"))
		},
		"a type that is none": says("text", "hidden"),
		"an image":            says("image/png", "hidden"),
		"JSON that is none":   says("application/json", `{"hidden":`),
		"text that is none":   says("text/plain", "hidden\xff"),
		"text with NUL":       says("text/plain", "hidden\x00"),
		"not found":           func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "hidden", http.StatusNotFound) },
		"nothing":             func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"a packed answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write(packed.Bytes())
		},
		"half an answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("hidden"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.provider.answer = answer
			got := w.asked()
			if got.ResultStatus != research.ResultFailed || !got.Contacted || got.ResultExcerpt != "" || got.ResultDigest != "" {
				t.Errorf("action %+v", got)
			}
			w.wantContacts(1)
		})
	}
}

func TestAnAnswerMayHave4096Bytes(t *testing.T) {
	w := newWorld(t)
	w.provider.answer = says("text/plain", strings.Repeat("x", 4096))
	if got := w.asked(); got.ResultStatus != research.ResultNew || got.ResultExcerpt != strings.Repeat("x", 512) {
		t.Errorf("action %+v", got)
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	w := newWorld(t)
	elsewhere := newProvider(t)
	w.provider.answer = func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, elsewhere.url, http.StatusFound) }
	if got := w.asked(); got.ResultStatus != research.ResultFailed {
		t.Errorf("action %+v", got)
	}
	if len(elsewhere.requests()) > 0 {
		t.Error("the redirect was followed")
	}
}

func TestASlowProviderIsNotWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.limits.Active = 20 * time.Millisecond
	w.provider.answer = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	if got := w.asked(); got.ResultStatus != research.ResultFailed || !got.Contacted {
		t.Errorf("action %+v", got)
	}
}

func TestAProviderThatIsNotThereIsAFailure(t *testing.T) {
	w := newWorld(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	w.providers[0].URL = gone.URL
	if got := w.asked(); got.ResultStatus != research.ResultFailed {
		t.Errorf("action %+v", got)
	}
}

func TestAnExcerptIsOneLineOfPrintableText(t *testing.T) {
	w := newWorld(t)
	w.provider.answer = says("text/html; charset=utf-8", "<b>Ärger</b>\x1b[31m red\r\n\u202eevil\u2066 \u200btwo\u0007  words")
	if got, want := w.asked().ResultExcerpt, "<b>Ärger</b> [31m red evil two words"; got != want {
		t.Errorf("excerpt %q, want %q", got, want)
	}
}

func TestAProviderThatCannotBeUsedIsNoProvider(t *testing.T) {
	fine := research.Provider{ID: "a", URL: "https://provider.example/x", Client: &http.Client{}}
	for name, change := range map[string]func(*research.Provider){
		"no id":        func(p *research.Provider) { p.ID = "" },
		"the id none":  func(p *research.Provider) { p.ID = "none" },
		"no client":    func(p *research.Provider) { p.Client = nil },
		"a file":       func(p *research.Provider) { p.URL = "file:///etc/passwd" },
		"no host":      func(p *research.Provider) { p.URL = "http:///x" },
		"a user":       func(p *research.Provider) { p.URL = "http://me:secret@provider.example/" },
		"a fragment":   func(p *research.Provider) { p.URL = "http://provider.example/#x" },
		"no URL":       func(p *research.Provider) { p.URL = "http://[::1" },
		"the same one": func(p *research.Provider) { p.ID = "a" },
	} {
		t.Run(name, func(t *testing.T) {
			odd := fine
			odd.ID = "b"
			change(&odd)
			cfg := research.Config{
				Store: &book{}, Look: newWorld(t).look, Door: func() research.Door { return nil }, Providers: []research.Provider{fine, odd},
			}
			if _, err := research.New(cfg); err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v", err)
			}
		})
	}
}
