package wasm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/fastreact/fastreact/sdk"
)

// extismSection is the custom section in which Join puts an Extism manifest file.
const extismSection = "fastreact.extism"

// Parts are the files of a plugin whose module carries no manifest, because the tool that built it knows of none.
type Parts struct {
	Module   []byte
	Manifest []byte // a manifest of ours, JSON; empty: the module has its own
	Extism   []byte // an Extism manifest file; empty: none
}

// Join makes one module of a plugin's parts: the files become custom sections behind the module, which stays as it is.
// The digest of what it returns is the digest of all parts together. A module that has the section already keeps its
// own word: Join refuses a second one.
func Join(parts Parts) ([]byte, error) {
	found, err := sections(parts.Module)
	if err != nil {
		return nil, err
	}
	joined := bytes.Clone(parts.Module)
	for _, part := range []struct {
		name string
		body []byte
	}{{sdk.ManifestSection, parts.Manifest}, {extismSection, parts.Extism}} {
		if part.body == nil {
			continue
		}
		if hasCustom(found, part.name) {
			return nil, fmt.Errorf("the module has a section %s of its own, and takes no second one from a file", part.name)
		}
		if len(part.body) > defaultModuleBytes {
			return nil, errors.New("the manifest file is larger than a module may be")
		}
		joined = appendCustom(joined, part.name, part.body)
	}
	return joined, nil
}

func hasCustom(found []section, name string) bool {
	for _, part := range found {
		if part.id == sectionCustom && (&reader{rest: part.body}).name() == name {
			return true
		}
	}
	return false
}

func appendCustom(module []byte, name string, body []byte) []byte {
	head := append(binary.AppendUvarint(nil, uint64(len(name))), name...)
	module = binary.AppendUvarint(append(module, sectionCustom), uint64(len(head)+len(body)))
	return append(append(module, head...), body...)
}
