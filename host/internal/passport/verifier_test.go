package passport

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var secret = []byte("a-shared-secret-of-more-than-32-bytes")

func TestEachAlgorithmIsCheckedWithItsOwnKey(t *testing.T) {
	k := keys()
	public := verifier(t, Config{File: keyFile(t, k.rsaKey("r"), k.ecKey("e"), k.edKey("d"))})
	shared := verifier(t, Config{Secret: secret})
	for name, c := range map[string]struct {
		v     *Verifier
		token string
	}{
		"HS256":        {shared, sign(t, object{"alg": "HS256"}, good(nil), byHMAC(secret))},
		"HS256 kid":    {shared, sign(t, object{"alg": "HS256", "kid": "../../etc/passwd"}, good(nil), byHMAC(secret))},
		"RS256":        {public, sign(t, object{"alg": "RS256", "kid": "r"}, good(nil), byRSA(k.rsa))},
		"ES256":        {public, sign(t, object{"alg": "ES256", "kid": "e"}, good(nil), byEC(k.ec))},
		"EdDSA":        {public, sign(t, object{"alg": "EdDSA", "kid": "d"}, good(nil), byEd(k.ed))},
		"without name": {public, sign(t, object{"alg": "RS256"}, good(nil), byRSA(k.rsa))},
	} {
		holder, err := c.v.Verify(t.Context(), c.token)
		if diff := cmp.Diff(Holder{Subject: "ann", Tenant: "red"}, holder); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestATokenThatIsNotTheIssuersIsRefused(t *testing.T) {
	k := keys()
	file := keyFile(t, k.rsaKey("r"), k.ecKey("e"), k.edKey("d"))
	public, shared := verifier(t, Config{File: file}), verifier(t, Config{Secret: secret})
	pem, modulus := []byte(string(set(t, k.rsaKey("r")))), k.rsa.N.Bytes()
	right := sign(t, object{"alg": "RS256", "kid": "r"}, good(nil), byRSA(k.rsa))
	for name, c := range map[string]struct {
		v     *Verifier
		token string
	}{
		"alg none":               {public, sign(t, object{"alg": "none", "kid": "r"}, good(nil), unsigned)},
		"alg None":               {public, sign(t, object{"alg": "None", "kid": "r"}, good(nil), unsigned)},
		"alg none, shared":       {shared, sign(t, object{"alg": "none"}, good(nil), unsigned)},
		"no alg":                 {public, sign(t, object{"kid": "r"}, good(nil), unsigned)},
		"public key as secret":   {public, sign(t, object{"alg": "HS256", "kid": "r"}, good(nil), byHMAC(pem))},
		"modulus as secret":      {public, sign(t, object{"alg": "HS256", "kid": "r"}, good(nil), byHMAC(modulus))},
		"empty secret":           {public, sign(t, object{"alg": "HS256", "kid": "r"}, good(nil), byHMAC(nil))},
		"empty secret, shared":   {shared, sign(t, object{"alg": "HS256"}, good(nil), byHMAC(nil))},
		"HS384":                  {shared, sign(t, object{"alg": "HS384"}, good(nil), byHMAC(secret))},
		"RS256 against a secret": {shared, sign(t, object{"alg": "RS256"}, good(nil), byRSA(k.rsa))},
		"RS256 named as EC key":  {public, sign(t, object{"alg": "RS256", "kid": "e"}, good(nil), byRSA(k.rsa))},
		"ES256 named as RSA key": {public, sign(t, object{"alg": "ES256", "kid": "r"}, good(nil), byEC(k.ec))},
		"PS256":                  {public, sign(t, object{"alg": "PS256", "kid": "r"}, good(nil), byRSA(k.rsa))},
		"another's key":          {public, sign(t, object{"alg": "RS256", "kid": "r"}, good(nil), byRSA(k.strange))},
		"unknown key":            {public, sign(t, object{"alg": "RS256", "kid": "x"}, good(nil), byRSA(k.rsa))},
		"key as a path":          {public, sign(t, object{"alg": "RS256", "kid": "../../../../dev/null"}, good(nil), byRSA(k.strange))},
		"key as a query":         {public, sign(t, object{"alg": "HS256", "kid": "x' UNION SELECT 'k"}, good(nil), byHMAC([]byte("k")))},
		"key name is no text":    {public, sign(t, object{"alg": "RS256", "kid": 1}, good(nil), byRSA(k.rsa))},
		"key in the token":       {public, sign(t, object{"alg": "RS256", "jwk": publicRSA(&k.strange.PublicKey, "r")}, good(nil), byRSA(k.strange))},
		"key address in it":      {public, sign(t, object{"alg": "RS256", "jku": "http://127.0.0.1:1/"}, good(nil), byRSA(k.strange))},
		"critical extension":     {public, sign(t, object{"alg": "RS256", "kid": "r", "crit": []string{"b64"}, "b64": false}, good(nil), byRSA(k.rsa))},
		"cut":                    {public, right[:len(right)-4]},
		"changed":                {public, strings.Replace(right, ".", ".A", 1)},
		"padded":                 {public, right + "="},
		"no signature":           {public, right[:strings.LastIndex(right, ".")+1]},
		"two parts":              {public, right[:strings.LastIndex(right, ".")]},
		"four parts":             {public, right + ".x"},
		"empty":                  {public, ""},
		"huge":                   {public, sign(t, object{"alg": "RS256", "kid": "r"}, good(object{"x": strings.Repeat("a", maxToken)}), byRSA(k.rsa))},
		"claims are no object":   {shared, "eyJhbGciOiJIUzI1NiJ9.W10." + b64(byHMAC(secret)([]byte("eyJhbGciOiJIUzI1NiJ9.W10")))},
	} {
		if holder, err := c.v.Verify(t.Context(), c.token); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %+v, %v", name, holder, err)
		}
	}
}

func TestATokenThatIsNotForHereAndNowIsRefused(t *testing.T) {
	v := verifier(t, Config{Secret: secret})
	for name, changes := range map[string]object{
		"expired":           {"exp": now.Add(-time.Second).Unix()},
		"expires now":       {"exp": now.Unix()},
		"no expiry":         {"exp": nil},
		"expiry is a text":  {"exp": "9999999999"},
		"expiry is null":    {"exp": (*int)(nil)},
		"not yet":           {"nbf": now.Add(time.Second).Unix()},
		"not yet, text":     {"nbf": "tomorrow"},
		"another issuer":    {"iss": "https://evil.example"},
		"issuer with slash": {"iss": "https://login.example/"},
		"no issuer":         {"iss": nil},
		"another audience":  {"aud": "other"},
		"other audiences":   {"aud": []string{"other", "fastreact2"}},
		"empty audiences":   {"aud": []string{}},
		"audience object":   {"aud": object{"fastreact": true}},
		"no audience":       {"aud": nil},
		"no subject":        {"sub": nil},
		"empty subject":     {"sub": ""},
		"blank subject":     {"sub": "  "},
		"subject is number": {"sub": 7},
		"tenant is number":  {"tenant_key": 7},
		"tenant is list":    {"tenant_key": []string{"red"}},
	} {
		token := sign(t, object{"alg": "HS256"}, good(changes), byHMAC(secret))
		if holder, err := v.Verify(t.Context(), token); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %+v, %v", name, holder, err)
		}
	}
}

func TestClaimsSayWhoHoldsAToken(t *testing.T) {
	v := verifier(t, Config{Secret: secret, RolesClaim: "realm_access.roles"})
	for name, c := range map[string]struct {
		changes object
		want    Holder
	}{
		"audiences":         {object{"aud": []string{"other", "fastreact"}}, Holder{Subject: "ann", Tenant: "red"}},
		"no tenant":         {object{"tenant_key": nil}, Holder{Subject: "ann"}},
		"prefix is none":    {object{"tenant_key": nil, "sub": "blue:ann"}, Holder{Subject: "blue:ann"}},
		"tenant_id":         {object{"tenant_key": nil, "tenant_id": "t", "org_id": "o"}, Holder{Subject: "ann", Tenant: "t"}},
		"tenant":            {object{"tenant_key": "", "tenant": "t"}, Holder{Subject: "ann", Tenant: "t"}},
		"org_id":            {object{"tenant_key": nil, "org_id": "o"}, Holder{Subject: "ann", Tenant: "o"}},
		"first that counts": {object{"tenant_id": "other"}, Holder{Subject: "ann", Tenant: "red"}},
		"roles":             {object{"realm_access": object{"roles": []any{"a", 1, "b"}}}, Holder{Subject: "ann", Tenant: "red", Roles: []string{"a", "b"}}},
		"roles in a text":   {object{"realm_access": object{"roles": "a b,c"}}, Holder{Subject: "ann", Tenant: "red", Roles: []string{"a", "b", "c"}}},
		"roles elsewhere":   {object{"roles": []any{"operator"}}, Holder{Subject: "ann", Tenant: "red"}},
		"exact name first":  {object{"realm_access.roles": []any{"x"}}, Holder{Subject: "ann", Tenant: "red", Roles: []string{"x"}}},
	} {
		holder, err := v.Verify(t.Context(), sign(t, object{"alg": "HS256"}, good(c.changes), byHMAC(secret)))
		if diff := cmp.Diff(c.want, holder, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestClocksMayDifferByTheLeeway(t *testing.T) {
	v := verifier(t, Config{Secret: secret, Leeway: 10 * time.Second})
	for seconds, counts := range map[int]bool{-9: true, -11: false} {
		expired := good(object{"exp": now.Add(time.Duration(seconds) * time.Second).Unix()})
		_, err := v.Verify(t.Context(), sign(t, object{"alg": "HS256"}, expired, byHMAC(secret)))
		if (err == nil) != counts {
			t.Errorf("%d s: %v", seconds, err)
		}
	}
}

func TestAVerifierNeedsIssuerAudienceAndOneSourceOfKeys(t *testing.T) {
	for name, cfg := range map[string]Config{
		"nothing":     {},
		"no issuer":   {Audience: "a", Secret: secret},
		"no audience": {Issuer: "i", Secret: secret},
		"no keys":     {Issuer: "i", Audience: "a"},
		"two sources": {Issuer: "i", Audience: "a", Secret: secret, URL: "https://login.example/keys"},
		"no file":     {Issuer: "i", Audience: "a", File: "/nowhere/at/all"},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
