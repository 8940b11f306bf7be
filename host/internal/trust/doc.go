// Package trust says whose code a module is: it pins modules in a lock file and signs and verifies them with ed25519
// keys. It promises that nothing passes of which a byte was changed after a person looked at it: module, signature
// file and lock file are read whole, strictly and once, and every refusal says what to do.
//
// Which keys are trusted, and whether a signature is asked for at all, is the configuration's word.
package trust

import "errors"

// Bounds of the files that this package reads, in bytes.
const (
	MaxKeyBytes       = 4 << 10
	MaxSignatureBytes = 4 << 10
	MaxLockBytes      = 1 << 20
)

// ErrUnsigned reports a module beside which no signature lies.
var ErrUnsigned = errors.New("the module is not signed")

// ErrUnknownSigner reports a signature by a key that is not listed.
var ErrUnknownSigner = errors.New("the signature is by a key that is not listed")
