package research

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// contactArgs are the arguments of the tool that contacts.
type contactArgs struct {
	ActionID         string `json:"action_id"`
	CapabilityID     string `json:"capability_id"`
	ProviderID       string `json:"provider_id"`
	Subject          string `json:"subject"`
	Question         string `json:"question"`
	MaxResponseBytes int    `json:"max_response_bytes"`
	MaxActiveMS      int64  `json:"max_active_ms"`
}

// reply is what the tool that contacts answers.
type reply struct {
	Contacted bool   `json:"contacted"`
	Reason    string `json:"reason"` // why there is no answer; empty: there is one
	Digest    string `json:"digest"`
	Excerpt   string `json:"excerpt"`
}

// Why there is no answer of a provider.
const (
	reasonNotGranted = "not_granted" // nothing was contacted
	reasonNoProvider = "no_provider" // nothing was contacted
	reasonNoAnswer   = "no_answer"   // it could not be reached, was slow, or broke off
	reasonStatus     = "status"      // it answered something else than 200, a redirect for instance
	reasonTooLarge   = "too_large"   // it answered more than it may
	reasonUnreadable = "unreadable"  // what it answered is not what it says that it is
)

// invokeContact makes the one contact of an action. Without a campaign under way for exactly this call it does nothing,
// whoever calls.
func (d *Desk) invokeContact(ctx context.Context, call sdk.Call) (sdk.Result, error) {
	got, err := d.contact(ctx, call)
	if err != nil {
		return sdk.Result{}, err
	}
	content, err := run.Encode(got)
	return sdk.Result{Content: string(content), IsError: got.Reason != ""}, err
}

func (d *Desk) contact(ctx context.Context, call sdk.Call) (reply, error) {
	s, err := d.load(ctx, call.Workspace)
	if err != nil {
		return reply{}, err
	}
	action, admitted := s.admittedCall(call.CallID, call.Args, d.now())
	if !admitted || !d.take(call.CallID) {
		return reply{Reason: reasonNotGranted}, nil
	}
	provider, known := d.providers[action.ProviderID]
	if !known {
		return reply{Reason: reasonNoProvider}, nil
	}
	return provider.ask(ctx, action, s.plan.Question), nil
}

// admittedCall finds the action that a call was admitted for: its grant is live, it has no result, and the arguments
// are the action's own.
func (s state) admittedCall(callID string, args json.RawMessage, now time.Time) (actionBody, bool) {
	for _, c := range s.campaigns {
		for _, call := range c.Calls {
			action, _ := s.action(call.ActionID)
			grant, _ := s.grant(c.GrantID)
			own, err := s.contactArgs(action)
			if call.CallID == callID && err == nil && bytes.Equal(own, args) && grant.live(now) && !s.ran(action.ActionID) &&
				s.choice(action.ActionID) == Authorize {
				return action, true
			}
		}
	}
	return actionBody{}, false
}

// check reports what is wrong with a provider.
func (p Provider) check() error {
	target, err := url.Parse(p.URL)
	switch {
	case err != nil:
		return errors.New("its URL cannot be read")
	case target.Scheme != "http" && target.Scheme != "https" || target.Host == "" || target.User != nil || target.Fragment != "":
		return errors.New("its URL is not http or https, or names a user or a fragment")
	case p.ID == "" || p.ID == NoProvider || p.Client == nil:
		return errors.New("it has no id or no way out")
	}
	return nil
}

// strict returns the provider with a client that follows nothing and remembers nothing.
func (p Provider) strict() Provider {
	client := *p.Client
	client.Jar = nil
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	p.Client = &client
	return p
}

// ask makes one request. What cannot be shown whole and safely is not shown at all.
func (p Provider) ask(ctx context.Context, action actionBody, question string) reply {
	ctx, stop := context.WithTimeout(ctx, time.Duration(action.MaxActiveMS)*time.Millisecond)
	defer stop()
	request, err := p.request(ctx, action, question)
	if err != nil {
		return reply{Reason: reasonNoProvider}
	}
	response, err := p.Client.Do(request)
	if err != nil {
		return reply{Contacted: true, Reason: reasonNoAnswer}
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return reply{Contacted: true, Reason: reasonStatus}
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(action.MaxResponseBytes)+1))
	switch {
	case err != nil:
		return reply{Contacted: true, Reason: reasonNoAnswer}
	case len(body) > action.MaxResponseBytes:
		return reply{Contacted: true, Reason: reasonTooLarge}
	case !honest(response.Header, body):
		return reply{Contacted: true, Reason: reasonUnreadable}
	}
	return reply{Contacted: true, Digest: run.Digest(body), Excerpt: excerpt(string(body))}
}

func (p Provider) request(ctx context.Context, action actionBody, question string) (*http.Request, error) {
	target, err := url.Parse(p.URL)
	if err != nil {
		return nil, err
	}
	query := target.Query()
	query.Set("action_id", action.ActionID)
	query.Set("capability", action.CapabilityID)
	query.Set("subject", action.Subject)
	query.Set("question", question)
	target.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json, text/*;q=0.5")
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set("User-Agent", "fastreact")
	return request, nil
}

// honest reports whether a body is the text that its headers say it is.
func honest(header http.Header, body []byte) bool {
	if coding := header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return false
	}
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || !utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0 {
		return false
	}
	if kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json") {
		return json.Valid(body)
	}
	return strings.HasPrefix(kind, "text/")
}

// maxExcerpt is how many characters of an answer are shown.
const maxExcerpt = 512

// excerpt makes the beginning of a text one printable line: no control character, nothing that turns the direction.
func excerpt(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
	letters := []rune(strings.Join(words, " "))
	return string(letters[:min(len(letters), maxExcerpt)])
}
