package trust

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// The PEM types of the two halves of a key.
const (
	privateType = "PRIVATE KEY"
	publicType  = "PUBLIC KEY"
)

// KeyID names a public key: "ed25519:" and the first 128 bits of the digest of its PKIX form, hex.
type KeyID string

// PublicKey is a key that verifies. The zero value verifies nothing.
type PublicKey struct {
	key ed25519.PublicKey
	id  KeyID
}

// ID returns the name of the key.
func (k PublicKey) ID() KeyID { return k.id }

// PrivateKey is a key that signs. It prints as its public half's name.
type PrivateKey struct {
	key    ed25519.PrivateKey
	public PublicKey
}

// Public returns the half that verifies.
func (k PrivateKey) Public() PublicKey { return k.public }

// String hides the key.
func (k PrivateKey) String() string { return "private half of " + string(k.public.id) }

// GoString hides the key.
func (k PrivateKey) GoString() string { return k.String() }

// Generate returns a new key.
func Generate() (PrivateKey, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return PrivateKey{}, fmt.Errorf("generate key: %w", err)
	}
	return privateOf(private)
}

// EncodePrivate writes a private key as PKCS #8 in PEM.
func EncodePrivate(key PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key.key)
	if err != nil {
		return nil, fmt.Errorf("encode private key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: privateType, Bytes: der}), nil
}

// EncodePublic writes a public key as PKIX in PEM.
func EncodePublic(key PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key.key)
	if err != nil {
		return nil, fmt.Errorf("encode public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: publicType, Bytes: der}), nil
}

// ParsePrivate reads what EncodePrivate writes. Its errors never show the key.
func ParsePrivate(text []byte) (PrivateKey, error) {
	der, err := onlyBlock(text, privateType)
	if err != nil {
		return PrivateKey{}, fmt.Errorf("private key: %w", err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return PrivateKey{}, errors.New("private key: it is no PKCS #8 key; make one with `fastreact plugin keygen`")
	}
	key, ed := parsed.(ed25519.PrivateKey)
	if !ed {
		return PrivateKey{}, errors.New("private key: it is not an ed25519 key; make one with `fastreact plugin keygen`")
	}
	return privateOf(key)
}

// ParsePublic reads what EncodePublic writes, or its middle line alone.
func ParsePublic(text []byte) (PublicKey, error) {
	if line := strings.TrimSpace(string(text)); line != "" && !strings.Contains(line, "-----") {
		text = []byte("-----BEGIN " + publicType + "-----\n" + line + "\n-----END " + publicType + "-----\n")
	}
	der, err := onlyBlock(text, publicType)
	if err != nil {
		return PublicKey{}, fmt.Errorf("public key: %w", err)
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return PublicKey{}, errors.New("public key: it is no PKIX key; use the .pub file that `fastreact plugin keygen` wrote")
	}
	key, ed := parsed.(ed25519.PublicKey)
	if !ed {
		return PublicKey{}, errors.New("public key: it is not an ed25519 key; use the .pub file that `fastreact plugin keygen` wrote")
	}
	return publicOf(key)
}

func privateOf(key ed25519.PrivateKey) (PrivateKey, error) {
	half, ed := key.Public().(ed25519.PublicKey)
	if !ed {
		return PrivateKey{}, errors.New("private key: it has no public half")
	}
	public, err := publicOf(half)
	return PrivateKey{key, public}, err
}

func publicOf(key ed25519.PublicKey) (PublicKey, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return PublicKey{}, fmt.Errorf("public key: %w", err)
	}
	sum := sha256.Sum256(der)
	return PublicKey{key, KeyID("ed25519:" + hex.EncodeToString(sum[:16]))}, nil
}

// onlyBlock returns the one PEM block that a text holds.
func onlyBlock(text []byte, kind string) ([]byte, error) {
	if len(text) > MaxKeyBytes {
		return nil, fmt.Errorf("it has %d bytes, the limit is %d", len(text), MaxKeyBytes)
	}
	block, rest := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("it is not PEM; it begins with -----BEGIN %s-----", kind)
	}
	if block.Type != kind {
		return nil, fmt.Errorf("it is a %.40q in PEM, not a %s", block.Type, kind)
	}
	if len(block.Headers) > 0 || strings.TrimSpace(string(rest)) != "" {
		return nil, errors.New("more than one PEM block stands in it")
	}
	return block.Bytes, nil
}
