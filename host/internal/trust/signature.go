package trust

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// SignatureSuffix stands behind a module's name in the name of its signature file.
const SignatureSuffix = ".sig"

// domain keeps what is signed here apart from everything else that the same key may sign.
const domain = "fastreact.plugin.signature/v1"

// Signature is one person's word on one module, as it stands in the file beside it.
type Signature struct {
	Version   int    `json:"version"` // 1
	KeyID     KeyID  `json:"key_id"`
	Digest    Digest `json:"digest"`    // of the module
	Signature string `json:"signature"` // base64 of 64 bytes
}

// Sign signs a module.
func Sign(key PrivateKey, module []byte) Signature {
	s := Signature{Version: 1, KeyID: key.public.id, Digest: DigestOf(module)}
	s.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(key.key, s.message()))
	return s
}

// Encode writes a signature file. There is one way to write each signature.
func (s Signature) Encode() ([]byte, error) {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode signature: %w", err)
	}
	return append(text, '\n'), nil
}

// ParseSignature reads a signature file. A file in which any byte is another than Encode would write is refused.
func ParseSignature(text []byte) (Signature, error) {
	if len(text) > MaxSignatureBytes {
		return Signature{}, fmt.Errorf("the signature file has %d bytes, the limit is %d", len(text), MaxSignatureBytes)
	}
	var s Signature
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return Signature{}, errors.New("the signature file is no signature; sign the module again with `fastreact plugin sign`")
	}
	if s.Version != 1 {
		return Signature{}, fmt.Errorf("the signature file has version %d, this program reads version 1", s.Version)
	}
	written, err := s.Encode()
	if err != nil || !bytes.Equal(written, text) {
		return Signature{}, errors.New("the signature file was changed after it was written; sign the module again with `fastreact plugin sign`")
	}
	return s, nil
}

// Check compares a signature with the module it lies beside. It says nothing about who signed.
func (s Signature) Check(digest Digest) error {
	if s.Digest != digest {
		return fmt.Errorf("the signature is for another module: it names %.80s, the module is %s; sign the module again, or take back the old one", s.Digest, digest)
	}
	return nil
}

// Verify returns the listed key that signed the module. The error is ErrUnknownSigner when no key of that name is
// listed.
func (s Signature) Verify(digest Digest, keys []PublicKey) (KeyID, error) {
	if err := s.Check(digest); err != nil {
		return "", err
	}
	for _, key := range keys {
		if key.id != s.KeyID || len(key.key) != ed25519.PublicKeySize {
			continue
		}
		raw, err := base64.StdEncoding.Strict().DecodeString(s.Signature)
		if err != nil || !ed25519.Verify(key.key, s.message(), raw) {
			return "", fmt.Errorf("the signature is not by the key %s that it names; somebody changed it", key.id)
		}
		return key.id, nil
	}
	return "", fmt.Errorf("%w: it names %.60q", ErrUnknownSigner, s.KeyID)
}

// message is what is signed.
func (s Signature) message() []byte {
	return []byte(domain + "\x00" + string(s.KeyID) + "\x00" + string(s.Digest))
}
