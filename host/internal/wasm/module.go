package wasm

import (
	"errors"
	"fmt"

	"github.com/fastreact/fastreact/sdk"
)

// shape is what a module says about itself in its sections, read without compiling or running it.
type shape struct {
	types     []signature
	imports   []imported
	functions []uint32 // type index of every function, imported ones first
	exports   map[string]exported
	memories  []memoryType
	manifest  []byte // nil when there is none
	extism    []byte // an Extism manifest file; nil when there is none
}

type signature struct{ params, results string } // one byte per value: i32 0x7f, i64 0x7e, …

type imported struct {
	module, name string
	kind         byte
}

type exported struct {
	kind  byte
	index uint32
}

type memoryType struct {
	low, high uint64 // pages
	bounded   bool
}

// Ids of sections and kinds of imports and exports, as the core specification numbers them.
const (
	sectionCustom   = 0
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionMemory   = 5
	sectionExport   = 7

	kindFunction = 0
	kindTable    = 1
	kindMemory   = 2
	kindGlobal   = 3
)

func parseShape(module []byte) (*shape, error) {
	found, err := sections(module)
	if err != nil {
		return nil, err
	}
	s := &shape{exports: map[string]exported{}}
	for _, part := range found {
		if err := s.read(part); err != nil {
			return nil, fmt.Errorf("section %d: %w", part.id, err)
		}
	}
	return s, nil
}

func (s *shape) read(part section) error {
	r := &reader{rest: part.body}
	switch part.id {
	case sectionCustom:
		s.readCustom(r)
		return r.err
	case sectionType:
		s.readTypes(r)
	case sectionImport:
		s.readImports(r)
	case sectionFunction:
		for range r.items() {
			s.functions = append(s.functions, r.u32())
		}
	case sectionMemory:
		for range r.count() {
			s.memories = append(s.memories, readMemory(r))
		}
	case sectionExport:
		s.readExports(r)
	default:
		return nil
	}
	if r.err == nil && len(r.rest) > 0 {
		return errors.New("bytes after the last entry")
	}
	return r.err
}

func (s *shape) readCustom(r *reader) {
	var kept *[]byte
	switch r.name() {
	case sdk.ManifestSection:
		kept = &s.manifest
	case extismSection:
		kept = &s.extism
	default:
		return
	}
	if *kept != nil {
		r.fail(errors.New("two manifests"))
		return
	}
	*kept = append([]byte{}, r.rest...)
}

func (s *shape) readTypes(r *reader) {
	for range r.items() {
		if form := r.byte(); form != 0x60 {
			r.fail(fmt.Errorf("type form %#x is not supported", form))
			return
		}
		params := string(r.bytes(r.u32()))
		results := string(r.bytes(r.u32()))
		s.types = append(s.types, signature{params, results})
	}
}

func (s *shape) readImports(r *reader) {
	for range r.items() {
		entry := imported{module: r.name(), name: r.name(), kind: r.byte()}
		switch entry.kind {
		case kindFunction:
			s.functions = append(s.functions, r.u32())
		case kindTable:
			r.byte()
			r.limits()
		case kindMemory:
			readMemory(r)
		case kindGlobal:
			r.bytes(2)
		default:
			r.fail(fmt.Errorf("import %s %s has the unknown kind %d", entry.module, entry.name, entry.kind))
		}
		if r.err != nil {
			return
		}
		s.imports = append(s.imports, entry)
	}
}

func (s *shape) readExports(r *reader) {
	for range r.items() {
		name := r.name()
		entry := exported{kind: r.byte(), index: r.u32()}
		if _, twice := s.exports[name]; twice {
			r.fail(fmt.Errorf("export %q stands there twice", name))
		}
		if r.err != nil {
			return
		}
		s.exports[name] = entry
	}
}

func readMemory(r *reader) memoryType {
	low, high, bounded := r.limits()
	return memoryType{low, high, bounded}
}

// signatureOf returns the signature of an exported function.
func (s *shape) signatureOf(name string) (signature, bool) {
	e, ok := s.exports[name]
	if !ok || e.kind != kindFunction || uint64(e.index) >= uint64(len(s.functions)) {
		return signature{}, false
	}
	index := s.functions[e.index]
	if uint64(index) >= uint64(len(s.types)) {
		return signature{}, false
	}
	return s.types[index], true
}
