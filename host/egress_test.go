package host

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// asked returns what a provider's client is answered, and the error.
func asked(t *testing.T, cfg Config, provider ProviderConfig) (status int, err error) {
	t.Helper()
	client, err := NewEgress(cfg).Provider(provider)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Get(provider.URL)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

func TestAProviderIsReachedAtItsOwnAddressWithoutRedirects(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	defer server.Close()
	if status, err := asked(t, DefaultConfig(), ProviderConfig{ID: "a", URL: server.URL}); err != nil || status != http.StatusFound {
		t.Errorf("%d %v", status, err)
	}
}

func TestPrometheusIsReachedWithoutRedirects(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	defer server.Close()
	way, err := NewEgress(DefaultConfig()).Prometheus(PrometheusConfig{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := way.RoundTrip(request)
	if err != nil || answer.StatusCode != http.StatusFound {
		t.Fatalf("%v %v", answer, err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
}

func TestNoProviderLeadsToAListenerOfThisService(t *testing.T) {
	reached := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer server.Close()
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	cfg := DefaultConfig()
	cfg.AgentTools.Addr = at.Host
	for _, address := range []string{server.URL, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)} {
		if _, err := asked(t, cfg, ProviderConfig{ID: "a", URL: address}); err == nil || reached {
			t.Errorf("%s was reached: %v", address, err)
		}
	}
}
