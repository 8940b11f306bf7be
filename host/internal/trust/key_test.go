package trust

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
)

func newKey(t *testing.T) PrivateKey {
	t.Helper()
	key, err := Generate()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func encoded(t *testing.T, key PrivateKey) (private, public []byte) {
	t.Helper()
	private, err := EncodePrivate(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err = EncodePublic(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return private, public
}

func TestKeysComeBackFromPEM(t *testing.T) {
	key := newKey(t)
	private, public := encoded(t, key)
	again, err := ParsePrivate(private)
	if err != nil {
		t.Fatal(err)
	}
	half, err := ParsePublic(public)
	if err != nil {
		t.Fatal(err)
	}
	if again.Public().ID() != key.Public().ID() || half.ID() != key.Public().ID() {
		t.Errorf("ids %s, %s and %s differ", key.Public().ID(), again.Public().ID(), half.ID())
	}
}

func TestPrivateKeysPrintAsTheirPublicHalf(t *testing.T) {
	key := newKey(t)
	for _, shown := range []string{fmt.Sprint(key), fmt.Sprintf("%v %+v %#v", key, key, key)} {
		if !strings.Contains(shown, string(key.Public().ID())) || strings.Contains(shown, fmt.Sprint([]byte(key.key)[:4])) {
			t.Errorf("it prints as %s", shown)
		}
	}
}

func TestWhatIsNoEd25519KeyIsRefused(t *testing.T) {
	private, public := encoded(t, newKey(t))
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(other.Public())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"empty": nil, "text": []byte("key"), "private half": private, "two": append(append([]byte{}, public...), public...),
		"curve": pem.EncodeToMemory(&pem.Block{Type: publicType, Bytes: der}),
		"long":  append(append([]byte{}, public...), make([]byte, MaxKeyBytes)...),
		"der":   pem.EncodeToMemory(&pem.Block{Type: publicType, Bytes: der[:9]}),
	} {
		if _, err := ParsePublic(text); err == nil || !strings.HasPrefix(err.Error(), "public key: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ParsePrivate(public); err == nil {
		t.Error("a public key is taken for a private one")
	}
}
