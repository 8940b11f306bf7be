package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

const bound = "canary-secret-value/4711"

// drawers keeps pairs in memory, as a ledger does.
type drawers struct {
	mu    sync.Mutex
	pairs map[run.Drawer]map[string]run.Pair
	last  int64
	fails error
}

func (d *drawers) Pair(_ context.Context, drawer run.Drawer, key string) (run.Pair, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	pair, found := d.pairs[drawer][key]
	return pair, found, d.fails
}

func (d *drawers) PutPair(_ context.Context, drawer run.Drawer, put run.Put) (run.PutOutcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pairs == nil {
		d.pairs = map[run.Drawer]map[string]run.Pair{}
	}
	if d.pairs[drawer] == nil {
		d.pairs[drawer] = map[string]run.Pair{}
	}
	used := int64(len(put.Key) + len(put.Value))
	for key, pair := range d.pairs[drawer] {
		if key != put.Key {
			used += int64(len(key) + len(pair.Value))
		}
	}
	switch {
	case used > put.Limit:
		return run.PutOutcome{Full: true}, d.fails
	case put.IfVersion != nil && *put.IfVersion != d.pairs[drawer][put.Key].Version:
		return run.PutOutcome{Conflict: true}, d.fails
	}
	d.last++
	d.pairs[drawer][put.Key] = run.Pair{Key: put.Key, Value: put.Value, Version: d.last}
	return run.PutOutcome{Version: d.last}, d.fails
}

func (d *drawers) DropPair(_ context.Context, drawer run.Drawer, key string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, found := d.pairs[drawer][key]
	delete(d.pairs[drawer], key)
	return found, d.fails
}

// reaching is a plugin with everything granted, and the server that all its requests end at.
type reaching struct {
	*testing.T
	plugin  *Plugin
	drawers *drawers
	server  *httptest.Server
	broker  *egress.Broker
	names   map[string]string
}

func everything() sdk.Capabilities {
	return sdk.Capabilities{
		HTTP: []sdk.HTTPAccess{
			{Scheme: "http", Host: "api.example", Methods: []string{"GET", "POST", "PUT"}},
			{Scheme: "http", Host: "127.0.0.1", Port: 80},
			{Scheme: "http", Host: "not-requested.example"},
		},
		Secrets: []sdk.SecretAccess{{Name: "token", Hosts: []string{"api.example", "not-requested.example"}}},
		KV:      &sdk.KVAccess{Bytes: 1000},
	}
}

func newReaching(t *testing.T, grants sdk.Capabilities, limits sdk.Limits, handler http.HandlerFunc) *reaching {
	t.Helper()
	r := &reaching{T: t, drawers: &drawers{}, names: map[string]string{"api.example": "93.184.215.14", "other.example": "93.184.215.15"}}
	r.server = httptest.NewServer(handler)
	t.Cleanup(r.server.Close)
	r.broker = egress.New(egress.Config{
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			address, err := netip.ParseAddr(r.names[host])
			return []netip.Addr{address}, err
		},
		Connect: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, r.server.Listener.Addr().String())
		},
	})
	module, err := goGuests.reach()
	if err != nil {
		t.Fatal(err)
	}
	host := newHost(t, Config{CacheDir: goGuests.cacheDir, World: World{
		Egress: r.broker, Pairs: r.drawers, Withheld: []string{"the-services-own-token"},
		Secrets: map[string]string{"token": bound, "spare": "spare-secret-value"},
	}})
	r.plugin = load(t, host, Module{Bytes: module, Grants: grants, Limits: limits})
	return r
}

// does makes the guest do something for a tenant, and returns what it answered.
func (r *reaching) does(tenant string, args map[string]any) string {
	r.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		r.Fatal(err)
	}
	result, err := r.plugin.Call(r.Context(), CallContext{Tenant: tenant}, sdk.Call{Tool: "reach", Args: raw})
	if err != nil {
		r.Fatal(err)
	}
	return result.Content
}

func (r *reaching) sends(address string) string {
	r.Helper()
	return r.does("t", map[string]any{"do": "send", "url": address})
}

func echo(w http.ResponseWriter, request *http.Request) {
	text, _ := io.ReadAll(request.Body)
	_, _ = fmt.Fprintf(w, "%s %s %d %s", request.Method, request.URL, len(request.Header.Get("Authorization")), text)
}

func TestGuestReachesWhatIsGranted(t *testing.T) {
	r := newReaching(t, everything(), sdk.Limits{}, echo)
	got := r.does("t", map[string]any{
		"do": "send", "method": "POST", "url": "http://api.example/p?q=1", "body": "é\u0000",
		"header": map[string]string{"Authorization": "Bearer secret://token"},
	})
	want := fmt.Sprintf("POST /p?q=1 %d é\x00", len("Bearer "+bound))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestGrantIsWhatWasRequestedAndGranted(t *testing.T) {
	r := newReaching(t, everything(), sdk.Limits{}, echo)
	for name, args := range map[string]map[string]any{
		"host that was only requested":   {"url": "http://other.example/"},
		"host that was only granted":     {"url": "http://not-requested.example/"},
		"method that was only granted":   {"url": "http://api.example/", "method": "PUT"},
		"method that was only requested": {"url": "http://127.0.0.1/", "method": "POST"},
	} {
		args["do"] = "send"
		if got := r.does("t", args); got != string(egress.NotGranted) {
			t.Errorf("%s: %s", name, got)
		}
	}
	for name, secret := range map[string]string{"only requested": "spare", "unknown": "tokens"} {
		if got := r.sends("http://api.example/?a=secret://" + secret); got != string(egress.SecretNotGranted) {
			t.Errorf("secret that was %s: %s", name, got)
		}
	}
}

func TestSecretIsBoundToTheHostsThatBothNamed(t *testing.T) {
	grants := everything()
	grants.Secrets[0].Hosts = []string{"not-requested.example"}
	r := newReaching(t, grants, sdk.Limits{}, echo)
	if got := r.sends("http://api.example/?a=secret://token"); got != string(egress.SecretNotGranted) {
		t.Error(got)
	}
}

// TestNoEscapeThroughTheNetwork is the broker's attack table, tried from inside a guest.
func TestNoEscapeThroughTheNetwork(t *testing.T) {
	r := newReaching(t, everything(), sdk.Limits{}, func(w http.ResponseWriter, request *http.Request) {
		if to := request.URL.Query().Get("to"); to != "" {
			http.Redirect(w, request, to, http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("reached"))
	})
	r.broker.Own(netip.MustParseAddrPort("0.0.0.0:80"))
	for address, want := range map[string]egress.Code{
		"http://api.example.evil/":                       egress.NotGranted,
		"http://evilapi.example/":                        egress.NotGranted,
		"http://user@api.example/":                       egress.BadURL,
		"http://api.example@evil.example/":               egress.BadURL,
		"http://2130706433/":                             egress.BadURL,
		"http://0177.0.0.1/":                             egress.BadURL,
		"http://[::ffff:127.0.0.1]/":                     egress.BadURL,
		"http://127.0.0.1/":                              egress.OwnListener,
		"file:///etc/passwd":                             egress.BadURL,
		"http://api.example/?to=http://127.0.0.1/":       egress.OwnListener,
		"http://api.example/?to=http://localhost/":       egress.RedirectRefused,
		"http://api.example/?to=file:///etc/passwd":      egress.RedirectRefused,
		"http://api.example/?to=http://169.254.169.254/": egress.RedirectRefused,
	} {
		if got := r.sends(address); got != string(want) {
			t.Errorf("%s: %q, want %s", address, got, want)
		}
	}
	for _, address := range []string{"127.0.0.1", "10.0.0.1", "::1", "64:ff9b::a00:1", "169.254.169.254"} {
		r.names["api.example"] = address
		if got := r.sends("http://api.example/"); got != string(egress.PrivateAddress) && got != string(egress.OwnListener) {
			t.Errorf("%s: %q", address, got)
		}
	}
}

func TestReflectedSecretNeverReachesTheGuest(t *testing.T) {
	r := newReaching(t, everything(), sdk.Limits{}, func(w http.ResponseWriter, request *http.Request) {
		_, _ = w.Write([]byte(request.URL.RawQuery))
	})
	if got := r.sends("http://api.example/?a=secret://token"); got != string(egress.SecretInResponse) {
		t.Error(got)
	}
}

func TestGuestSendsNoSecretThatItHolds(t *testing.T) {
	r := newReaching(t, everything(), sdk.Limits{}, echo)
	for _, value := range []string{bound, "spare-secret-value", "the-services-own-token"} {
		got := r.does("t", map[string]any{"do": "send", "method": "POST", "url": "http://api.example/", "body": value})
		if got != string(egress.SecretInRequest) {
			t.Errorf("%s: %s", value, got)
		}
	}
}

func TestCallWhoseServerHangsEndsAtItsDeadline(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	r := newReaching(t, everything(), sdk.Limits{Wall: sdk.Duration(250e6)}, func(_ http.ResponseWriter, request *http.Request) {
		select {
		case <-hang:
		case <-request.Context().Done():
		}
	})
	for range 2 { // also on the second call
		_, err := r.plugin.Call(t.Context(), CallContext{}, sdk.Call{Tool: "reach", Args: json.RawMessage(`{"do":"send","url":"http://api.example/"}`)})
		if codeOf(t, err) != run.PluginTimedOut {
			t.Error(err)
		}
	}
}

func TestValuesOfOneTenantAreNotAnothers(t *testing.T) {
	r := newReaching(t, everything(), sdk.Limits{}, echo)
	r.does("a", map[string]any{"do": "set", "key": "k", "value": "of a"})
	r.does("b", map[string]any{"do": "set", "key": "k", "value": "of b"})
	r.does("c", map[string]any{"do": "delete", "key": "k"})
	for tenant, want := range map[string]string{"a": "of a", "b": "of b", "c": "", "": ""} {
		if got := r.does(tenant, map[string]any{"do": "get", "key": "k"}); got != want {
			t.Errorf("tenant %q: %q, want %q", tenant, got, want)
		}
	}
}

// TestGuestCannotSayWhoseCallItIs puts the host's words into whatever a guest writes.
func TestGuestCannotSayWhoseCallItIs(t *testing.T) {
	store := &drawers{}
	u := &using{pairs: store, drawer: run.Drawer{Plugin: "p", Tenant: "mine"}, limit: 100}
	forged := `{"key":"k","value":"v","tenant":"theirs","Tenant":"theirs","tenant_key":"theirs","plugin":"other","drawer":{"Plugin":"other","Tenant":"theirs"},"limit":1000000,"run_id":"x"}`
	keyed((*using).set)(t.Context(), u, []byte(forged))
	want := map[run.Drawer]map[string]run.Pair{{Plugin: "p", Tenant: "mine"}: {"k": {Key: "k", Value: []byte("v"), Version: 1}}}
	if diff := cmp.Diff(want, store.pairs); diff != "" {
		t.Error(diff)
	}
}

func TestKeptValuesAreBounded(t *testing.T) {
	r := newReaching(t, everything(), sdk.Limits{}, echo)
	none := int64(0)
	for name, row := range map[string]struct {
		args map[string]any
		want string
	}{
		"no key":       {map[string]any{"do": "set", "key": ""}, kvBadRequest},
		"long key":     {map[string]any{"do": "get", "key": strings.Repeat("k", maxKeyBytes+1)}, kvBadRequest},
		"long value":   {map[string]any{"do": "grow", "key": "k", "value": strings.Repeat("v", maxValueBytes/100+1)}, kvTooLarge},
		"full":         {map[string]any{"do": "set", "key": "k", "value": strings.Repeat("v", 1000)}, kvFull},
		"just as much": {map[string]any{"do": "set", "key": "k", "value": strings.Repeat("v", 999)}, ""},
		"conflict":     {map[string]any{"do": "set", "key": "k", "value": "", "version": none + 99}, kvConflict},
	} {
		if got := r.does(name, row.args); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

func TestStoreThatFailsIsNoEmptyStore(t *testing.T) {
	r := newReaching(t, everything(), sdk.Limits{}, echo)
	r.drawers.fails = errors.New("disk of /var/lib is full")
	for _, do := range []string{"get", "set", "delete"} {
		if got := r.does("t", map[string]any{"do": do, "key": "k"}); got != kvUnavailable {
			t.Errorf("%s: %s", do, got)
		}
	}
}

// hop sends on to itself where it is asked to.
func hop(w http.ResponseWriter, request *http.Request) {
	if request.URL.RawQuery == "hop" {
		http.Redirect(w, request, "/?hop", http.StatusFound)
		return
	}
	echo(w, request)
}
