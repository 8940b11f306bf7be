package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// Digest is the SHA-256 of a module, "sha256:" and 64 lower-case hexadecimal digits.
type Digest string

// DigestOf returns the digest of a module.
func DigestOf(module []byte) Digest {
	sum := sha256.Sum256(module)
	return Digest("sha256:" + hex.EncodeToString(sum[:]))
}

var digestShape = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// ParseDigest reads a digest, with or without "sha256:" before it.
func ParseDigest(text string) (Digest, error) {
	digest := "sha256:" + strings.TrimPrefix(strings.ToLower(text), "sha256:")
	if !digestShape.MatchString(digest) {
		return "", fmt.Errorf("%.80q is not sha256: and 64 hexadecimal digits", text)
	}
	return Digest(digest), nil
}

// Hex returns the digits alone.
func (d Digest) Hex() string { return strings.TrimPrefix(string(d), "sha256:") }
