package host

import (
	"errors"
	"fmt"
	"os"

	"github.com/fastreact/fastreact/host/internal/trust"
	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/host/internal/workbench"
)

// SignatureSuffix stands behind a module's name in the name of its signature file.
const SignatureSuffix = trust.SignatureSuffix

// KeyPair is a new key in PEM. Private must be readable by its owner only.
type KeyPair struct {
	ID      string
	Private []byte // PKCS #8
	Public  []byte // PKIX
}

// GenerateKey returns a key that signs plugins.
func GenerateKey() (KeyPair, error) {
	key, err := trust.Generate()
	if err != nil {
		return KeyPair{}, err
	}
	private, err := trust.EncodePrivate(key)
	if err != nil {
		return KeyPair{}, err
	}
	public, err := trust.EncodePublic(key.Public())
	return KeyPair{ID: string(key.Public().ID()), Private: private, Public: public}, err
}

// WriteFile puts a file of at most 0600 or 0644 whole in the place of the one at path.
func WriteFile(path string, content []byte, private bool) error {
	mode := os.FileMode(0o644)
	if private {
		mode = 0o600
	}
	return trust.Replace(path, content, mode)
}

// Signed is what one signature says.
type Signed struct {
	Path      string `json:"path"`   // of the module
	Digest    string `json:"digest"` // of the module
	KeyID     string `json:"key_id"`
	Signature string `json:"signature"` // path of the signature file
}

// SignPlugin signs the module at path, or in the folder there, with the private key in keyFile, and writes the signature beside it.
func SignPlugin(path, keyFile string) (Signed, error) {
	text, err := trust.ReadFile(keyFile, trust.MaxKeyBytes)
	if err != nil {
		return Signed{}, fmt.Errorf("read key: %w", err)
	}
	key, err := trust.ParsePrivate(text)
	if err != nil {
		return Signed{}, fmt.Errorf("%s: %w", keyFile, err)
	}
	if path, err = workbench.ModulePath(path); err != nil {
		return Signed{}, err
	}
	module, err := readPlugin(path)
	if err != nil {
		return Signed{}, err
	}
	signature := trust.Sign(key, module)
	file, err := signature.Encode()
	if err != nil {
		return Signed{}, err
	}
	signed := Signed{
		Path: path, Digest: string(signature.Digest), KeyID: string(signature.KeyID), Signature: path + SignatureSuffix,
	}
	return signed, trust.Replace(signed.Signature, file, 0o644)
}

// readPlugin reads a module that this host would look at.
func readPlugin(path string) ([]byte, error) {
	module, err := wasm.ReadPluginBeside(path, 0)
	if err != nil {
		return nil, fmt.Errorf("read plugin: %w", err)
	}
	return inspected(path, module)
}

func inspected(path string, module []byte) ([]byte, error) {
	if _, err := wasm.Inspect(module); err != nil {
		return nil, fmt.Errorf("%s is no plugin that this host runs: %w", path, err)
	}
	return module, nil
}

// Verified is what VerifyPlugin found out.
type Verified struct {
	Signed
	Pin string `json:"pin"` // lock file that pins the module; empty: none was asked for
}

// VerifyPlugin reports whether the signature beside the module at path, or in the folder there, is by one of the public
// keys, and whether the lock file pins this module where one is named.
func VerifyPlugin(path string, keyFiles []string, lockFile string) (Verified, error) {
	var keys []trust.PublicKey
	for _, file := range keyFiles {
		text, err := trust.ReadFile(file, trust.MaxKeyBytes)
		if err != nil {
			return Verified{}, fmt.Errorf("read key: %w", err)
		}
		key, err := trust.ParsePublic(text)
		if err != nil {
			return Verified{}, fmt.Errorf("%s: %w", file, err)
		}
		keys = append(keys, key)
	}
	path, err := workbench.ModulePath(path)
	if err != nil {
		return Verified{}, err
	}
	module, err := wasm.ReadPluginBeside(path, 0) // not looked into yet: what somebody changed need be no module
	if err != nil {
		return Verified{}, fmt.Errorf("read plugin: %w", err)
	}
	digest := trust.DigestOf(module)
	found := Verified{Signed: Signed{Path: path, Digest: string(digest)}, Pin: lockFile}
	if lockFile != "" {
		if err := checkPin(path, digest, lockFile); err != nil {
			return Verified{}, err
		}
	}
	if len(keys) > 0 {
		if err := found.checkSigner(keys); err != nil {
			return Verified{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	_, err = inspected(path, module)
	return found, err
}

// checkSigner takes up who signed, when it is one of the keys.
func (v *Verified) checkSigner(keys []trust.PublicKey) error {
	signature, err := trust.ReadSignature(v.Path)
	if errors.Is(err, trust.ErrUnsigned) {
		return fmt.Errorf("%w: there is no %s", err, v.Path+SignatureSuffix)
	}
	if err != nil {
		return err
	}
	id, err := signature.Verify(trust.Digest(v.Digest), keys)
	v.KeyID, v.Signature = string(id), v.Path+SignatureSuffix
	return err
}

func checkPin(path string, digest trust.Digest, lockFile string) error {
	lock, err := trust.ReadLock(lockFile)
	if err != nil {
		return err
	}
	pin, there := lock.Pin(path)
	switch {
	case !there:
		return fmt.Errorf("%s: %s does not pin it", path, lockFile)
	case pin != digest:
		return fmt.Errorf("%s: its digest is %s, %s pins %s", path, digest, lockFile, pin)
	}
	return nil
}
