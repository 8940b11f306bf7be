package model

import (
	"net/http"
	"net/url"
	"testing"
)

func TestOnlyAConfiguredProxyIsUsed(t *testing.T) {
	if transport, ok := newTransport(nil).(*http.Transport); !ok || transport.Proxy != nil {
		t.Error("a proxy of the environment would be used")
	}
	want := &url.URL{Scheme: "http", Host: "proxy.test:3128"}
	transport, ok := newTransport(want).(*http.Transport)
	if !ok {
		t.Fatal("not an http.Transport")
	}
	got, err := transport.Proxy(&http.Request{URL: &url.URL{Scheme: "https", Host: "api.test"}})
	if err != nil || got.String() != want.String() {
		t.Errorf("proxy %v, %v", got, err)
	}
}
