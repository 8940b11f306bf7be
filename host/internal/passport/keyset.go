package passport

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// maxKeys is how many keys of one set are read.
const maxKeys = 100

// Sizes of RSA moduli that are taken, in bits: smaller ones are weak, larger ones cost too much time.
const (
	leastRSA = 2048
	mostRSA  = 8192
)

// key is one public key and the only algorithm that it may have signed with.
type key struct {
	name      string // kid; empty when it has none
	algorithm string
	public    any
}

// rawKey is a JSON Web Key as it is written.
type rawKey struct {
	Type       string   `json:"kty"`
	Name       string   `json:"kid"`
	Algorithm  string   `json:"alg"`
	Use        string   `json:"use"`
	Operations []string `json:"key_ops"`
	Curve      string   `json:"crv"`
	Modulus    string   `json:"n"`
	Exponent   string   `json:"e"`
	X          string   `json:"x"`
	Y          string   `json:"y"`
	Private    string   `json:"d"`
	Symmetric  string   `json:"k"`
}

// parseSet reads a key set. Keys that cannot be used are passed over with a reason; a set without any usable key is
// an error.
func parseSet(text []byte) (keys []key, skipped []error, err error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, nil, errors.New("it is no JSON Web Key Set")
	}
	if len(set.Keys) > maxKeys {
		return nil, nil, fmt.Errorf("it holds more than %d keys", maxKeys)
	}
	names := map[string]bool{}
	for i, text := range set.Keys {
		parsed, err := parseKey(text)
		if err == nil && parsed.name != "" && names[parsed.name+" "+parsed.algorithm] {
			err = errors.New("another key has the same name")
		}
		if err != nil {
			skipped = append(skipped, fmt.Errorf("key %d: %w", i, err))
			continue
		}
		names[parsed.name+" "+parsed.algorithm] = true
		keys = append(keys, parsed)
	}
	if len(keys) == 0 {
		return nil, skipped, errors.Join(append([]error{errors.New("it holds no usable public key")}, skipped...)...)
	}
	return keys, skipped, nil
}

// parseKey reads one key. A key that came with its private half, or is a shared secret, is nobody's proof any more.
func parseKey(text []byte) (key, error) {
	var raw rawKey
	if err := json.Unmarshal(text, &raw); err != nil {
		return key{}, errors.New("it is no JSON Web Key")
	}
	switch {
	case raw.Private != "" || raw.Symmetric != "":
		return key{}, errors.New("it is not public")
	case raw.Use != "" && raw.Use != "sig":
		return key{}, errors.New("it is not for signatures")
	case len(raw.Operations) > 0 && !slices.Contains(raw.Operations, "verify"):
		return key{}, errors.New("it is not for verification")
	}
	algorithm, public, err := raw.public()
	if err != nil {
		return key{}, err
	}
	if raw.Algorithm != "" && raw.Algorithm != algorithm {
		return key{}, errors.New("it is for another algorithm")
	}
	return key{raw.Name, algorithm, public}, nil
}

func (raw rawKey) public() (algorithm string, public any, err error) {
	switch raw.Type + " " + raw.Curve {
	case "RSA ":
		public, err = raw.rsa()
		return "RS256", public, err
	case "EC P-256":
		public, err = raw.p256()
		return "ES256", public, err
	case "OKP Ed25519":
		x, err := base64.RawURLEncoding.DecodeString(raw.X)
		if err != nil || len(x) != ed25519.PublicKeySize {
			return "", nil, errors.New("it is no Ed25519 key")
		}
		return "EdDSA", ed25519.PublicKey(x), nil
	}
	return "", nil, errors.New("its kind is not known")
}

func (raw rawKey) rsa() (*rsa.PublicKey, error) {
	n, errN := base64.RawURLEncoding.DecodeString(raw.Modulus)
	e, errE := base64.RawURLEncoding.DecodeString(raw.Exponent)
	if errN != nil || errE != nil || len(n) > mostRSA/8 || len(e) > 4 {
		return nil, errors.New("it is no RSA key")
	}
	modulus, exponent := new(big.Int).SetBytes(n), new(big.Int).SetBytes(e).Int64()
	if modulus.BitLen() < leastRSA || exponent < 3 || exponent%2 == 0 || exponent > 1<<31-1 {
		return nil, errors.New("it is a weak RSA key")
	}
	return &rsa.PublicKey{N: modulus, E: int(exponent)}, nil
}

func (raw rawKey) p256() (*ecdsa.PublicKey, error) {
	x, errX := base64.RawURLEncoding.DecodeString(raw.X)
	y, errY := base64.RawURLEncoding.DecodeString(raw.Y)
	if errX != nil || errY != nil || len(x) != 32 || len(y) != 32 {
		return nil, errors.New("it is no P-256 key")
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
	if err != nil {
		return nil, errors.New("it is no point of P-256")
	}
	return public, nil
}
