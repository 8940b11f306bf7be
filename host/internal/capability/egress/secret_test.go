package egress

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
)

// echoed answers with what came, reversed, so that no secret is found in it.
func echoed(w http.ResponseWriter, request *http.Request) {
	text, _ := io.ReadAll(request.Body)
	query, _ := url.QueryUnescape(request.URL.RawQuery)
	_, _ = fmt.Fprintf(w, "%s|%s|%s", turned(query), turned(request.Header.Get("Authorization")), turned(string(text)))
}

func turned(text string) string {
	out := []byte(text)
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}

func (w *world) policy(hosts ...string) Policy {
	return Policy{
		Grants: w.grants(plain("api.example"), plain("other.example")), Limits: limits(),
		Vault: NewVault([]Secret{{Name: "token", Value: canary, Hosts: hosts}}, []string{"the-services-own-token"}),
	}
}

func TestSecretIsPutInForTheHostItIsBoundTo(t *testing.T) {
	w := newWorld(t, echoed)
	answer, err := w.send(w.policy("api.example"), sdk.HTTPRequest{
		Method: "POST", URL: "http://api.example/?key=secret://token&k2=secret%3A%2F%2Ftoken",
		Header: map[string]string{"Authorization": "Bearer secret://token"}, Body: []byte(`{"key":"secret://token"}`),
	})
	want := turned("key="+canary+"&k2="+canary) + "|" + turned("Bearer "+canary) + "|" + turned(`{"key":"`+canary+`"}`)
	if diff := cmp.Diff(want, string(answer.Body)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestSecretInABodyIsWrittenAsTheBodyWantsIt(t *testing.T) {
	const value = `a"b\c&d=e f/g`
	for kind, want := range map[string]string{
		"application/json":                         `"a\"b\\c\u0026d=e f/g"`,
		"application/x-www-form-urlencoded":        `"a%22b%5Cc%26d%3De+f%2Fg"`,
		"text/plain; charset=utf-8":                `"` + value + `"`,
		"application/vnd.api+json; charset=utf-8 ": `"a\"b\\c\u0026d=e f/g"`,
	} {
		vault := NewVault([]Secret{{Name: "t", Value: value, Hosts: []string{"h"}}}, nil)
		got, err := vault.expand(`"secret://t"`, target{host: "h"}, bodyEscape(kind))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(kind, diff, err)
		}
	}
}

func TestSecretGoesNowhereElse(t *testing.T) {
	w := newWorld(t, echoed)
	for name, row := range map[string]struct {
		hosts   []string
		request sdk.HTTPRequest
		want    Code
	}{
		"another host":   {[]string{"other.example"}, sdk.HTTPRequest{URL: "http://api.example/?a=secret://token"}, SecretNotGranted},
		"another port":   {[]string{"api.example:81"}, sdk.HTTPRequest{URL: "http://api.example/?a=secret://token"}, SecretNotGranted},
		"unknown":        {[]string{"api.example"}, sdk.HTTPRequest{URL: "http://api.example/?a=secret://tokens"}, SecretNotGranted},
		"no name":        {[]string{"api.example"}, sdk.HTTPRequest{URL: "http://api.example/?a=secret://"}, SecretNotGranted},
		"in the path":    {[]string{"api.example"}, sdk.HTTPRequest{URL: "http://api.example/secret://token"}, BadURL},
		"escaped path":   {[]string{"api.example"}, sdk.HTTPRequest{URL: "http://api.example/secret%3A%2f%2Ftoken"}, BadURL},
		"in the host":    {[]string{"api.example"}, sdk.HTTPRequest{URL: "http://secret://token/"}, BadURL},
		"as header name": {[]string{"api.example"}, sdk.HTTPRequest{URL: "http://api.example/", Header: map[string]string{"secret://token": "a"}}, BadRequest},
	} {
		if _, err := w.send(w.policy(row.hosts...), row.request); codeOf(err) != row.want || w.hits.Load() > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPluginWithoutSecretsCannotNameOne(t *testing.T) {
	w := newWorld(t, echoed)
	policy := Policy{Grants: w.grants(plain("api.example")), Limits: limits()}
	if _, err := w.send(policy, sdk.HTTPRequest{URL: "http://api.example/?a=secret://token"}); codeOf(err) != SecretNotGranted {
		t.Error(err)
	}
}

func TestGuestThatKnowsAValueSendsItNowhere(t *testing.T) {
	w := newWorld(t, echoed)
	for _, value := range []string{canary, "the-services-own-token"} {
		for name, request := range map[string]sdk.HTTPRequest{
			"query":  {URL: "http://api.example/?a=" + url.QueryEscape(value)},
			"path":   {URL: "http://api.example/" + value},
			"header": {URL: "http://api.example/", Header: map[string]string{"A": "b " + value}},
			"body":   {URL: "http://api.example/", Method: "POST", Body: []byte(base64.StdEncoding.EncodeToString([]byte(value)))},
		} {
			if _, err := w.send(w.policy("api.example"), request); codeOf(err) != SecretInRequest || w.hits.Load() > 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestRedirectToAnotherHostCarriesNoSecret(t *testing.T) {
	var stolen []string
	w := newWorld(t, func(out http.ResponseWriter, request *http.Request) {
		if request.Host == "api.example" {
			http.Redirect(out, request, "http://other.example/?a=b", http.StatusTemporaryRedirect)
			return
		}
		text, _ := io.ReadAll(request.Body)
		stolen = append(stolen, request.URL.String(), fmt.Sprint(request.Header), string(text))
	})
	w.names["other.example"] = []string{"93.184.215.16"}
	policy := w.policy("api.example", "other.example")
	_, err := w.send(policy, sdk.HTTPRequest{
		URL:    "http://api.example/?a=secret://token",
		Header: map[string]string{"Authorization": "Basic abc", "X-Key": "secret://token", "X-Plain": "kept"},
	})
	got := strings.Join(stolen, "\n")
	if err != nil || strings.Contains(got, canary) || strings.Contains(got, "Basic") || !strings.Contains(got, "kept") {
		t.Errorf("%v\n%s", err, got)
	}
	_, err = w.send(policy, sdk.HTTPRequest{URL: "http://api.example/", Method: "POST", Body: []byte("secret://token")})
	if codeOf(err) != RedirectRefused {
		t.Error(err)
	}
}

func TestRedirectThatCarriesASecretElsewhereIsRefused(t *testing.T) {
	w := newWorld(t, func(out http.ResponseWriter, request *http.Request) {
		http.Redirect(out, request, "http://other.example/?"+request.URL.RawQuery, http.StatusFound)
	})
	w.names["other.example"] = []string{"93.184.215.16"}
	_, err := w.send(w.policy("api.example"), sdk.HTTPRequest{URL: "http://api.example/?a=secret://token"})
	if codeOf(err) != SecretInResponse {
		t.Error(err)
	}
}

func TestRefusalsHoldNoSecret(t *testing.T) {
	w := newWorld(t, func(out http.ResponseWriter, _ *http.Request) { _, _ = out.Write([]byte(canary)) })
	_, err := w.send(w.policy("api.example"), sdk.HTTPRequest{URL: "http://api.example/?a=secret://token"})
	if err == nil || strings.Contains(err.Error(), canary) {
		t.Error(err)
	}
}

func TestNetworkErrorHoldsNoSecret(t *testing.T) {
	w := newWorld(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, err := w.send(w.policy("api.example"), sdk.HTTPRequest{URL: "http://api.example/?a=secret://token"})
	if codeOf(err) != Unreachable || NewScanner([]string{canary}).Finds([]byte(err.Error())) {
		t.Error(err)
	}
}

func TestScannerLeavesShortValuesAndOtherTextAlone(t *testing.T) {
	scanner := NewScanner([]string{"short", canary})
	for _, text := range []string{"short", "canary-secret-value/471", `%zz \ud83d \`, "%", "&amp;", "\\u00", strings.Repeat("a", 1000)} {
		if scanner.Finds([]byte(text)) {
			t.Errorf("%q", text)
		}
	}
	if diff := cmp.Diff("a [redacted] b", scanner.Redact("a "+canary+" b")); diff != "" {
		t.Error(diff)
	}
}

func TestGrantsAreComparedAsTheyAreWritten(t *testing.T) {
	for _, access := range []sdk.HTTPAccess{
		{Host: ""},
		{Host: "*.example"},
		{Host: "API.example"},
		{Host: "api.example."},
		{Host: "api.example/x"},
		{Host: "api.example:80"},
		{Host: "127.1"},
		{Host: "2130706433"},
		{Host: "0x7f.1"},
		{Host: "[::1]"},
		{Host: "::ffff:1.2.3.4"},
		{Host: "fe80::1%eth0"},
		{Host: "bücher.example"},
		{Host: "a..b"},
		{Host: "-a.example"},
		{Host: "a", Scheme: "ftp"},
		{Host: "a", Port: 65536},
		{Host: "a", Methods: []string{"get"}},
		{Host: "a", Methods: []string{"CONNECT"}},
		{Host: "a", Addresses: []string{"10.0.0.1"}},
	} {
		if _, err := NewGrants([]sdk.HTTPAccess{access}); err == nil {
			t.Errorf("%+v was taken", access)
		}
	}
}

func FuzzURLThatPassesIsReadAlikeByTheStandardLibrary(f *testing.F) {
	for _, seed := range []string{"http://api.example/a?b#c", "http://api.example@evil/", "http://[::1]:80/", "http://a%41/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, out, err := parseURL(text)
		if err != nil {
			return
		}
		again, err := url.Parse(out.String())
		if err != nil || again.Hostname() != at.host || again.User != nil || again.Scheme != at.scheme {
			t.Errorf("%q became %q: %v", text, out, err)
		}
	})
}
