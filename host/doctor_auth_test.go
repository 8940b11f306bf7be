package host

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDoctorSaysWhoMayCall(t *testing.T) {
	down := httptest.NewServer(http.NotFoundHandler())
	defer down.Close()
	jwt := JWTConfig{Issuer: "i", Audience: "a"}
	short, url := jwt, jwt
	short.Secret, url.JWKSURL = "short", down.URL
	for name, c := range map[string]struct {
		auth AuthConfig
		want Health
	}{
		"open":          {AuthConfig{Mode: AuthNone}, Degrade},
		"service token": {AuthConfig{Mode: AuthServiceToken, ServiceToken: "t"}, Works},
		"proxies":       {AuthConfig{Mode: AuthTrustedHeaders, TrustedProxies: []string{"10.0.0.1"}}, Works},
		"short secret":  {AuthConfig{Mode: AuthJWT, JWT: short}, Degrade},
		"keys are gone": {AuthConfig{Mode: AuthJWT, JWT: url}, Broken},
	} {
		if found := examineAuth(t.Context(), c.auth); found.Health != c.want || (found.Do == "") != (c.want == Works) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestAnAddressStandsForItself(t *testing.T) {
	auth := AuthConfig{TrustedProxies: []string{"127.0.0.1", "10.1.2.3/8", "::ffff:192.0.2.1", "fd00::1"}}
	var want []netip.Prefix
	for _, text := range strings.Fields("127.0.0.1/32 10.0.0.0/8 192.0.2.1/32 fd00::1/128") {
		want = append(want, netip.MustParsePrefix(text))
	}
	if diff := cmp.Diff(want, auth.proxies(), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
