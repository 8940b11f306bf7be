package build

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/fastreact/fastreact/sdk"
)

const preambleSize = 8 // magic and version

// AppendManifest returns module with manifest in the custom section sdk.ManifestSection. One that is already there
// is replaced. The manifest must be valid.
func AppendManifest(module, manifest []byte) ([]byte, error) {
	if _, err := sdk.DecodeManifest(manifest); err != nil {
		return nil, err
	}
	bare, err := withoutManifest(module)
	if err != nil {
		return nil, fmt.Errorf("append manifest: %w", err)
	}
	name := []byte(sdk.ManifestSection)
	body := binary.AppendUvarint(nil, uint64(len(name)))
	body = append(append(body, name...), manifest...)
	bare = binary.AppendUvarint(append(bare, 0), uint64(len(body)))
	return append(bare, body...), nil
}

func withoutManifest(module []byte) ([]byte, error) {
	if !bytes.HasPrefix(module, []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, errors.New("not a core WebAssembly module")
	}
	kept := bytes.Clone(module[:preambleSize])
	for rest := module[preambleSize:]; len(rest) > 0; {
		size, used := binary.Uvarint(rest[1:])
		if used <= 0 || size > uint64(len(rest)-1-used) {
			return nil, errors.New("a section reaches past the end of the module")
		}
		end := 1 + used + int(size)
		if rest[0] != 0 || !isManifest(rest[1+used:end]) {
			kept = append(kept, rest[:end]...)
		}
		rest = rest[end:]
	}
	return kept, nil
}

func isManifest(section []byte) bool {
	size, used := binary.Uvarint(section)
	return used > 0 && size <= uint64(len(section)-used) &&
		string(section[used:used+int(size)]) == sdk.ManifestSection
}
