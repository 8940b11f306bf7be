package passport

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// now is the time in these tests.
var now = time.Date(2026, 6, 11, 12, 0, 0, 0, time.UTC)

// object is a JSON object.
type object = map[string]any

// signers are the keys of an issuer, one of each kind, and one that it does not have.
type signers struct {
	rsa, strange *rsa.PrivateKey
	ec           *ecdsa.PrivateKey
	ed           ed25519.PrivateKey
}

var keys = sync.OnceValue(func() signers {
	first, err1 := rsa.GenerateKey(rand.Reader, 2048)
	strange, err2 := rsa.GenerateKey(rand.Reader, 2048)
	ec, err3 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, ed, err4 := ed25519.GenerateKey(rand.Reader)
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			panic(err)
		}
	}
	return signers{first, strange, ec, ed}
})

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func (s signers) rsaKey(name string) object { return publicRSA(&s.rsa.PublicKey, name) }

func publicRSA(key *rsa.PublicKey, name string) object {
	return object{"kty": "RSA", "kid": name, "n": b64(key.N.Bytes()), "e": b64(big.NewInt(int64(key.E)).Bytes())}
}

func (s signers) ecKey(name string) object {
	point, err := s.ec.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	return object{"kty": "EC", "crv": "P-256", "kid": name, "x": b64(point[1:33]), "y": b64(point[33:])}
}

func (s signers) edKey(name string) object {
	return object{"kty": "OKP", "crv": "Ed25519", "kid": name, "x": b64(s.ed.Public().(ed25519.PublicKey))}
}

// set is a key set as an issuer publishes it.
func set(t *testing.T, keys ...object) []byte {
	t.Helper()
	raw, err := json.Marshal(object{"keys": keys})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func keyFile(t *testing.T, keys ...object) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(path, set(t, keys...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sign makes a token by hand, so that no library keeps a test from writing nonsense.
func sign(t *testing.T, head, claims object, by func(signed []byte) []byte) string {
	t.Helper()
	first, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed := b64(first) + "." + b64(second)
	return signed + "." + b64(by([]byte(signed)))
}

func unsigned([]byte) []byte { return nil }

func byHMAC(secret []byte) func([]byte) []byte {
	return func(signed []byte) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write(signed)
		return mac.Sum(nil)
	}
}

func byRSA(key *rsa.PrivateKey) func([]byte) []byte {
	return func(signed []byte) []byte {
		digest := sha256.Sum256(signed)
		signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
		if err != nil {
			panic(err)
		}
		return signature
	}
}

func byEC(key *ecdsa.PrivateKey) func([]byte) []byte {
	return func(signed []byte) []byte {
		digest := sha256.Sum256(signed)
		r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
		if err != nil {
			panic(err)
		}
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	}
}

func byEd(key ed25519.PrivateKey) func([]byte) []byte {
	return func(signed []byte) []byte { return ed25519.Sign(key, signed) }
}

// good are the claims of a token that counts, with changes; nil takes a claim out.
func good(changes object) object {
	claims := object{
		"iss": "https://login.example", "aud": "fastreact", "sub": "ann", "exp": now.Add(time.Minute).Unix(), "tenant_key": "red",
	}
	for name, value := range changes {
		if value == nil {
			delete(claims, name)
			continue
		}
		claims[name] = value
	}
	return claims
}

func verifier(t *testing.T, cfg Config) *Verifier {
	t.Helper()
	cfg.Issuer, cfg.Audience = "https://login.example", "fastreact"
	if cfg.Clock == nil {
		cfg.Clock = func() time.Time { return now }
	}
	v, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
