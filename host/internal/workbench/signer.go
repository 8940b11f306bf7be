package workbench

import (
	"errors"
	"fmt"
	"os"

	"github.com/fastreact/fastreact/host/internal/trust"
)

// The words about a signature that is there.
const (
	unsigned   = "unsigned"
	unverified = "unverified" // it is for this module and names a key; whose word that is was not checked
	verified   = "verified"
)

// readSigner says who claims to have signed a module, and whether that was checked: with the public key in the file at
// pub, which may be empty. A signature that does not count has no signer, and the word is why.
func readSigner(module, pub string, digest string) (signer, word string, err error) {
	signature, err := trust.ReadSignature(module)
	if errors.Is(err, trust.ErrUnsigned) {
		return "", unsigned, nil
	}
	if err == nil {
		err = signature.Check(trust.Digest(digest))
	}
	if err != nil {
		return "", err.Error(), nil
	}
	if pub == "" {
		return string(signature.KeyID), unverified, nil
	}
	key, err := readKey(pub)
	if err != nil {
		return "", "", err
	}
	id, err := signature.Verify(trust.Digest(digest), []trust.PublicKey{key})
	if err != nil {
		return "", err.Error(), nil
	}
	return string(id), verified, nil
}

func readKey(path string) (trust.PublicKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return trust.PublicKey{}, fmt.Errorf("read public key: %w", err)
	}
	key, err := trust.ParsePublic(text)
	if err != nil {
		return trust.PublicKey{}, fmt.Errorf("read public key %s: %w", path, err)
	}
	return key, nil
}
