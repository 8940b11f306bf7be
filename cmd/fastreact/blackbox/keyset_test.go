package blackbox

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// loginService publishes one Ed25519 key at a time, and signs with it.
type loginService struct {
	*httptest.Server
	answer atomic.Pointer[http.HandlerFunc]
}

func newLogin(t *testing.T) *loginService {
	t.Helper()
	l := &loginService{}
	l.will(http.NotFound)
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*l.answer.Load())(w, r) }))
	t.Cleanup(l.Close)
	return l
}

func (l *loginService) will(answer http.HandlerFunc) { l.answer.Store(&answer) }

// rotate publishes a fresh key and returns a token of ann's that it signed.
func (l *loginService) rotate(t *testing.T, kid string) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	l.will(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":%q,"x":%q}]}`, kid, encode(public))
	})
	claims, err := json.Marshal(map[string]any{
		"iss": "https://login.example", "aud": "fastreact", "sub": "ann", "exp": time.Now().Add(time.Hour).Unix(),
	})
	if err != nil {
		t.Fatal(err)
	}
	text := encode([]byte(`{"alg":"EdDSA","kid":"`+kid+`"}`)) + "." + encode(claims)
	return text + "." + encode(ed25519.Sign(private, []byte(text)))
}

func TestKeysOfAnIssuerMayChangeAndItsAddressMayBeDown(t *testing.T) {
	t.Parallel()
	login := newLogin(t)
	s := start(t, newModel(t, searchThenAnswer), fmt.Sprintf(
		`auth: {mode: jwt, jwt: {issuer: "https://login.example", audience: fastreact, jwks_url: %q, jwks_refresh: 1s, jwks_cooldown: 100ms}}`+"\n",
		login.URL))
	as := func(token string) int {
		status, _ := s.request("GET", "/v1/runs", nil, "Authorization", "Bearer "+token)
		return status
	}
	response := s.open("GET", "/v1/runs", nil, "Authorization", "Bearer "+login.rotateUnseen(t))
	response.Body.Close()
	if response.StatusCode != 503 || response.Header.Get("Retry-After") == "" {
		t.Errorf("without keys: %d", response.StatusCode)
	}
	first := login.rotate(t, "first")
	s.await(10*time.Second, func() (bool, string) { return as(first) == 200, "the first key never counts" })
	second := login.rotate(t, "second")
	s.await(10*time.Second, func() (bool, string) { return as(second) == 200, "the second key never counts" })
	if status := as(first); status != 401 {
		t.Errorf("a token of a withdrawn key: %d", status)
	}
	login.Close()
	for range 5 {
		if status := as(second); status != 200 {
			t.Errorf("while the address is down: %d", status)
		}
	}
}

// rotateUnseen returns a token of a key that is not published.
func (l *loginService) rotateUnseen(t *testing.T) string {
	t.Helper()
	token := l.rotate(t, "unseen")
	l.will(http.NotFound)
	return token
}
