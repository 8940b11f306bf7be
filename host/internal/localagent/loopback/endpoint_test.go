package loopback_test

import (
	"errors"
	"testing"

	"github.com/fastreact/fastreact/host/internal/localagent/loopback"
)

func TestTheCanonicalLoopbackAddressesAreTaken(t *testing.T) {
	for _, endpoint := range []string{
		"http://127.0.0.1:8080", "http://127.0.0.1:8080/", "http://127.0.0.1:1", "http://127.0.0.1:65535", "http://[::1]:8080",
		"http://[::1]:8080/",
	} {
		if err := loopback.Check(endpoint); err != nil {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}

func TestEveryOtherEndpointIsRefused(t *testing.T) {
	for _, endpoint := range []string{
		"", " ", "/", "http://", "http:///", "127.0.0.1:8080", "//127.0.0.1:8080", "http:127.0.0.1:8080",
		"https://127.0.0.1:8080", "HTTP://127.0.0.1:8080", "Http://127.0.0.1:8080", "ftp://127.0.0.1:8080", "unix:///tmp/s",
		"http://localhost:8080", "http://LOCALHOST:8080", "http://localhost.localdomain:8080", "http://127.0.0.1.nip.io:8080",
		"http://example.com:8080", "http://10.0.0.1:8080", "http://192.168.0.1:8080", "http://169.254.169.254:80",
		"http://0.0.0.0:8080", "http://0:8080", "http://127.1:8080", "http://127.0.1:8080", "http://127.0.0.2:8080",
		"http://127.255.255.255:8080", "http://127.0.0.1.:8080", "http://127.000.000.001:8080", "http://0127.0.0.1:8080",
		"http://0x7f.0.0.1:8080", "http://0x7f000001:8080", "http://2130706433:8080", "http://017700000001:8080",
		"http://①27.0.0.1:8080", "http://127。0。0。1:8080", "http://127.0.0.1%2e:8080", "http://%31%32%37.0.0.1:8080",
		"http://127.0.0.1", "http://127.0.0.1/", "http://127.0.0.1:", "http://127.0.0.1:/", "http://127.0.0.1:0",
		"http://127.0.0.1:00", "http://127.0.0.1:080", "http://127.0.0.1:08080", "http://127.0.0.1:+80", "http://127.0.0.1:-80",
		"http://127.0.0.1:65536", "http://127.0.0.1:99999999999", "http://127.0.0.1:http", "http://127.0.0.1:8080:8080",
		"http://user@127.0.0.1:8080", "http://user:pass@127.0.0.1:8080", "http://@127.0.0.1:8080", "http://127.0.0.1@example.com:80",
		"http://127.0.0.1:80@example.com:80", "http://127.0.0.1:8080@example.com",
		"http://127.0.0.1:8080?", "http://127.0.0.1:8080?a=b", "http://127.0.0.1:8080/?a=b", "http://127.0.0.1:8080#",
		"http://127.0.0.1:8080/#a", "http://127.0.0.1:8080//", "http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/.",
		"http://127.0.0.1:8080/..", "http://127.0.0.1:8080\\", "http:\\\\127.0.0.1:8080", "http://127.0.0.1:8080/%2f",
		" http://127.0.0.1:8080", "http://127.0.0.1:8080 ", "http://127.0.0.1:8080\n", "http://127.0.0.1:8080/\n",
		"http://127.0.0.1:80\t80", "http:// 127.0.0.1:8080", "http://127.0.0.1 :8080", "http://127.0.0.1:8080\x00",
		"http://[::1]", "http://[::1]/", "http://::1:8080", "http://[0:0:0:0:0:0:0:1]:8080", "http://[::0001]:8080",
		"http://[0::1]:8080", "http://[::ffff:127.0.0.1]:8080", "http://[::ffff:7f00:1]:8080", "http://[::127.0.0.1]:8080",
		"http://[::]:8080", "http://[::1%lo]:8080", "http://[::1%25lo]:8080", "http://[::2]:8080", "http://[fe80::1]:8080",
		"http://[127.0.0.1]:8080", "http://[::1]:08080", "http://[::1]:0", "http://[::1]:65536", "http://user@[::1]:8080",
		"http://[::1]:8080/v1", "http://[::1 ]:8080", "http://[::1:8080", "http://http://127.0.0.1:8080",
	} {
		if err := loopback.Check(endpoint); !errors.Is(err, loopback.ErrEndpoint) {
			t.Errorf("%q is taken: %v", endpoint, err)
		}
		if _, err := loopback.New(loopback.Config{Endpoint: endpoint, Model: "small"}); err == nil {
			t.Errorf("a client for %q is made", endpoint)
		}
	}
}

func TestAClientNeedsTheNameOfItsModel(t *testing.T) {
	if _, err := loopback.New(loopback.Config{Endpoint: "http://127.0.0.1:8080"}); err == nil {
		t.Error("it is made")
	}
}
