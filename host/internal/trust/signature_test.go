package trust

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// signed returns a module, its signature file and the key.
func signed(t *testing.T) (module, file []byte, key PrivateKey) {
	t.Helper()
	key, module = newKey(t), []byte("\x00asm module")
	file, err := Sign(key, module).Encode()
	if err != nil {
		t.Fatal(err)
	}
	return module, file, key
}

func verify(module, file []byte, keys ...PublicKey) (KeyID, error) {
	s, err := ParseSignature(file)
	if err != nil {
		return "", err
	}
	return s.Verify(DigestOf(module), keys)
}

func TestASignatureNamesTheListedKeyThatMadeIt(t *testing.T) {
	module, file, key := signed(t)
	got, err := verify(module, file, newKey(t).Public(), key.Public())
	if err != nil || got != key.Public().ID() {
		t.Errorf("signer is %q, %v", got, err)
	}
}

func TestAnyChangedByteOfModuleOrSignatureIsRefused(t *testing.T) {
	module, file, key := signed(t)
	for n, whole := range [][]byte{module, file} {
		for i := range whole {
			for _, flip := range []byte{1, 0x20, 0x80} {
				parts := [][]byte{bytes.Clone(module), bytes.Clone(file)}
				parts[n][i] ^= flip
				if _, err := verify(parts[0], parts[1], key.Public()); err == nil {
					t.Errorf("byte %d of part %d ^ %#x passes", i, n, flip)
				}
			}
		}
	}
}

func TestASignatureByAnUnlistedKeyIsOfAnUnknownSigner(t *testing.T) {
	module, file, _ := signed(t)
	if _, err := verify(module, file, newKey(t).Public()); !errors.Is(err, ErrUnknownSigner) {
		t.Errorf("error is %v", err)
	}
	if _, err := verify(module, file, PublicKey{}); err == nil {
		t.Error("a key that is none verifies")
	}
}

func TestASignatureFileIsReadWholeAndOnlyAsItIsWritten(t *testing.T) {
	_, file, _ := signed(t)
	for name, text := range map[string][]byte{
		"empty": nil, "cut": file[:len(file)-3], "behind": append(bytes.Clone(file), '\n'), "long": make([]byte, MaxSignatureBytes+1),
		"version": bytes.Replace(file, []byte(`: 1,`), []byte(`: 2,`), 1),
		"unknown": bytes.Replace(file, []byte(`{`), []byte(`{"more": 1,`), 1),
	} {
		if _, err := ParseSignature(text); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestAModuleWithoutASignatureFileIsUnsigned(t *testing.T) {
	module := filepath.Join(t.TempDir(), "a.wasm")
	if _, err := ReadSignature(module); !errors.Is(err, ErrUnsigned) {
		t.Errorf("error is %v", err)
	}
	if err := os.Mkdir(module+SignatureSuffix, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSignature(module); err == nil || errors.Is(err, ErrUnsigned) {
		t.Errorf("a folder in the place of the signature: %v", err)
	}
}

func FuzzParseSignature(f *testing.F) {
	f.Add([]byte(`{"version": 1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSignature(text)
		if err != nil {
			return
		}
		if again, err := s.Encode(); err != nil || !bytes.Equal(again, text) {
			t.Errorf("%q is not as it would be written", text)
		}
	})
}
