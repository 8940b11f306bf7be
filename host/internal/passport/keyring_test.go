package passport

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestKeysThatProveNothingAreNotUsed(t *testing.T) {
	k := keys()
	with := func(key object, changes object) object {
		changed := object{}
		for name, value := range key {
			changed[name] = value
		}
		for name, value := range changes {
			changed[name] = value
		}
		return changed
	}
	weak := object{"kty": "RSA", "kid": "r", "n": b64(k.rsa.N.Bytes()[:128]), "e": "AQAB"}
	for name, bad := range map[string]object{
		"private":             with(k.rsaKey("r"), object{"d": b64([]byte("d"))}),
		"shared secret":       {"kty": "oct", "kid": "r", "k": b64(secret)},
		"for encryption":      with(k.rsaKey("r"), object{"use": "enc"}),
		"for signing":         with(k.rsaKey("r"), object{"key_ops": []string{"sign"}}),
		"other algorithm":     with(k.rsaKey("r"), object{"alg": "HS256"}),
		"other RSA algorithm": with(k.rsaKey("r"), object{"alg": "RS512"}),
		"weak":                weak,
		"huge":                with(k.rsaKey("r"), object{"n": b64(make([]byte, 2000))}),
		"even exponent":       with(k.rsaKey("r"), object{"e": "Ag"}),
		"not on the curve":    with(k.ecKey("r"), object{"y": b64(make([]byte, 32))}),
		"other curve":         with(k.ecKey("r"), object{"crv": "P-384"}),
		"short Ed25519":       with(k.edKey("r"), object{"x": b64([]byte("short"))}),
		"unknown kind":        {"kty": "X", "kid": "r"},
		"no key":              {},
	} {
		_, skipped, err := parseSet(set(t, bad, k.edKey("fine")))
		if err != nil || len(skipped) != 1 {
			t.Errorf("%s beside a good one: %v, skipped %v", name, err, skipped)
		}
		if _, _, err := parseSet(set(t, bad)); err == nil {
			t.Errorf("%s alone was taken", name)
		}
	}
}

func TestWhatIsNoKeySetIsRefused(t *testing.T) {
	many := make([]object, maxKeys+1)
	for i := range many {
		many[i] = keys().edKey("x")
	}
	for _, text := range []string{"", "{}", `{"keys":[]}`, `{"keys":{}}`, "<html>", `[]`, `{"keys":[1,"x",null]}`, string(set(t, many...))} {
		if _, _, err := parseSet([]byte(text)); err == nil {
			t.Errorf("%.40q was taken", text)
		}
	}
}

func FuzzParseSet(f *testing.F) {
	k := keys()
	for _, key := range []object{k.rsaKey("r"), k.ecKey("e"), k.edKey("d"), {"kty": "oct"}} {
		raw, err := json.Marshal(object{"keys": []object{key}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		parsed, _, err := parseSet(raw)
		if (err == nil) != (len(parsed) > 0) {
			t.Errorf("%d keys and %v", len(parsed), err)
		}
	})
}

// issuer publishes keys over HTTP, and counts how often it is asked.
type issuer struct {
	*httptest.Server
	asked  atomic.Int64
	mu     sync.Mutex
	answer http.HandlerFunc
}

func newIssuer(t *testing.T, keys ...object) *issuer {
	t.Helper()
	i := &issuer{}
	i.publish(t, keys...)
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.asked.Add(1)
		i.mu.Lock()
		answer := i.answer
		i.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) will(answer http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer = answer
}

func (i *issuer) publish(t *testing.T, keys ...object) {
	text := set(t, keys...)
	i.will(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) })
}

// clock is a time that only the test moves.
type clock struct{ since atomic.Int64 }

func (c *clock) now() time.Time       { return now.Add(time.Duration(c.since.Load())) }
func (c *clock) pass(d time.Duration) { c.since.Add(int64(d)) }

func lasting(t *testing.T, head object, by func([]byte) []byte) string {
	return sign(t, head, good(object{"exp": now.Add(1000 * time.Hour).Unix()}), by)
}

func TestKeysAreReadOnceWhileTheyAreFresh(t *testing.T) {
	k, time := keys(), &clock{}
	from := newIssuer(t, k.rsaKey("r"))
	v := verifier(t, Config{URL: from.URL, Clock: time.now})
	token := lasting(t, object{"alg": "RS256", "kid": "r"}, byRSA(k.rsa))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := v.Verify(context.Background(), token); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := from.asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestAnUnknownKeyIsAskedForAndNotAgainSoon(t *testing.T) {
	k, time := keys(), &clock{}
	from := newIssuer(t, k.rsaKey("old"))
	v := verifier(t, Config{URL: from.URL, Clock: time.now})
	verify := func(kid string) error {
		_, err := v.Verify(t.Context(), lasting(t, object{"alg": "RS256", "kid": kid}, byRSA(k.rsa)))
		return err
	}
	if err := verify("old"); err != nil {
		t.Fatal(err)
	}
	from.publish(t, k.rsaKey("new"))
	if err := verify("new"); err != nil {
		t.Errorf("the new key: %v", err)
	}
	if err := verify("old"); err == nil {
		t.Error("the old key still counts")
	}
	before := from.asked.Load()
	for range 50 {
		if err := verify("bogus"); err == nil {
			t.Fatal("a bogus key counts")
		}
	}
	if n := from.asked.Load() - before; n != 0 {
		t.Errorf("asked %d times within the cooldown", n)
	}
	time.pass(11e9)
	_ = verify("bogus")
	if n := from.asked.Load() - before; n != 1 {
		t.Errorf("asked %d times after the cooldown", n)
	}
}

func TestWithdrawnKeysStopCountingWhenTheSetIsOld(t *testing.T) {
	k, time := keys(), &clock{}
	from := newIssuer(t, k.rsaKey("r"))
	v := verifier(t, Config{URL: from.URL, Clock: time.now})
	token := lasting(t, object{"alg": "RS256", "kid": "r"}, byRSA(k.rsa))
	if _, err := v.Verify(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	from.publish(t, k.edKey("d"))
	time.pass(6 * 60e9)
	if _, err := v.Verify(t.Context(), token); !errors.Is(err, ErrRefused) {
		t.Errorf("error %v", err)
	}
}

func TestTheLastGoodSetIsKept(t *testing.T) {
	k := keys()
	hang := make(chan struct{})
	defer close(hang)
	for name, answer := range map[string]http.HandlerFunc{
		"down":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		"no set":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"empty":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys":[]}`)) },
		"huge":     func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat(" ", 300<<10))) },
		"redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
		"slow":     func(http.ResponseWriter, *http.Request) { <-hang },
		"cut":      func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"oct key": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"keys":[{"kty":"oct","k":"AA"}]}`))
		},
		"bad bytes": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{0xff, 0xfe}) },
	} {
		time := &clock{}
		from := newIssuer(t, k.rsaKey("r"))
		v := verifier(t, Config{URL: from.URL, Clock: time.now, Timeout: 100e6})
		token := lasting(t, object{"alg": "RS256", "kid": "r"}, byRSA(k.rsa))
		if _, err := v.Verify(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		from.will(answer)
		time.pass(6 * 60e9)
		for range 5 {
			if _, err := v.Verify(t.Context(), token); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n := from.asked.Load(); n > 3 { // a connection that breaks is tried once more by the transport
			t.Errorf("%s: asked %d times, want once more and then a rest", name, n)
		}
	}
}

func TestWithoutAnySetNothingCountsAndNothingIsHammered(t *testing.T) {
	k, time := keys(), &clock{}
	from := newIssuer(t, k.rsaKey("r"))
	from.will(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	v := verifier(t, Config{URL: from.URL, Clock: time.now})
	token := lasting(t, object{"alg": "RS256", "kid": "r"}, byRSA(k.rsa))
	for range 5 {
		if _, err := v.Verify(t.Context(), token); !errors.Is(err, ErrNoKeys) {
			t.Errorf("error %v", err)
		}
	}
	if n := from.asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	from.publish(t, k.rsaKey("r"))
	time.pass(11e9)
	if _, err := v.Verify(t.Context(), token); err != nil {
		t.Errorf("after it came back: %v", err)
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	k := keys()
	evil := newIssuer(t, k.rsaKey("r"))
	from := newIssuer(t)
	from.will(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, evil.URL, http.StatusFound) })
	v := verifier(t, Config{URL: from.URL})
	if err := v.Ready(t.Context()); err == nil || evil.asked.Load() != 0 {
		t.Errorf("error %v, the other place was asked %d times", err, evil.asked.Load())
	}
}
