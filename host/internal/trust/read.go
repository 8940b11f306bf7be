package trust

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ReadFile reads a regular file of at most limit bytes, once. It never waits: what is no regular file is refused.
func ReadFile(path string, limit int) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe may have taken its place
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err = file.Stat(); err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(content) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return content, nil
}

func regular(path string, info os.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	return nil
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
