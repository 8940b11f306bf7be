package trust

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ReadFile reads a regular file of at most limit bytes, once. It never waits: what is no regular file is refused.
func ReadFile(path string, limit int) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(content) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return content, nil
}

// ReadSignature reads the signature beside a module. The error is ErrUnsigned when there is none.
func ReadSignature(module string) (Signature, error) {
	text, err := ReadFile(module+SignatureSuffix, MaxSignatureBytes)
	if errors.Is(err, os.ErrNotExist) {
		return Signature{}, ErrUnsigned
	}
	if err != nil {
		return Signature{}, fmt.Errorf("signature file %s: %w", module+SignatureSuffix, err)
	}
	return ParseSignature(text)
}
