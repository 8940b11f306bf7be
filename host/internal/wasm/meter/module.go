package meter

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sections by their numbers.
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
	sectionKinds
)

// sectionOrder is the order in which sections stand in a module.
var sectionOrder = [...]byte{
	sectionType, sectionImport, sectionFunction, sectionTable, sectionMemory, sectionGlobal, sectionExport, sectionStart,
	sectionElement, sectionDataCount, sectionCode, sectionData,
}

// Kinds of imports and exports.
const (
	kindFunction = iota
	kindTable
	kindMemory
	kindGlobal
)

const header = "\x00asm\x01\x00\x00\x00"

// module is what is known of a module while it is rewritten.
type module struct {
	options Options
	size    int // in bytes

	sections [sectionKinds][]byte
	present  [sectionKinds]bool
	manifest [][]byte // contents of the sections to keep, with their names
	names    []byte   // content of the name section, without its name

	types      []signature
	typeAt     map[string]uint32 // the first type with a signature
	addedTypes int

	imports   []importedFunction
	imported  uint32 // imports of every kind
	functions []*function
	globals   []global
	ownGlobal uint32 // index of the first global that is not imported
	helpers   helpers

	uses    uses
	merges  uint64 // values where ways meet, of all functions
	waiting uint64 // passive elements

	unrestorable string // the first thing that a snapshot does not undo
}

// lasts notes something that a snapshot does not undo.
func (m *module) lasts(what string) { m.unrestorable = cmp.Or(m.unrestorable, what) }

// uses says which operations occur in a module.
type uses struct{ grow, fill, copy, init, drop, tables bool }

type signature struct{ params, results []byte }

type importedFunction struct {
	typ  uint32
	name string
}

type global struct {
	kind    byte
	mutable bool
}

// read takes a module apart and checks what the rewriter relies on.
func read(bytes []byte, o Options) (*module, error) {
	o.MemoryPages = min(o.MemoryPages, maxPages)
	o.CallDepth = min(o.CallDepth, maxDepth)
	m := &module{options: o, size: len(bytes), typeAt: map[string]uint32{}}
	if err := m.split(bytes); err != nil {
		return nil, err
	}
	steps := [...]struct {
		section byte
		read    func(*reader)
	}{
		{sectionType, m.readTypes},
		{sectionImport, m.readImports},
		{sectionFunction, m.readFunctions},
		{sectionGlobal, m.readGlobals},
		{sectionCode, m.readCode},
	}
	for _, step := range steps {
		if !m.present[step.section] {
			continue
		}
		r := &reader{data: m.sections[step.section]}
		step.read(r)
		if err := r.done(); err != nil {
			return nil, fmt.Errorf("section %d: %w", step.section, err)
		}
	}
	return m, m.settle()
}

func (m *module) split(bytes []byte) error {
	if len(bytes) < len(header) || string(bytes[:len(header)]) != header {
		return fmt.Errorf("%w: no WebAssembly header", ErrMalformed)
	}
	r := &reader{data: bytes, at: len(header)}
	last := -1
	for r.more() {
		id := r.byte()
		content := r.take(r.count())
		if r.err != nil {
			break
		}
		if id == sectionCustom {
			m.keepCustom(r, content)
			continue
		}
		place := strings.IndexByte(string(sectionOrder[:]), id)
		if place < 0 {
			r.fail(fmt.Errorf("section %d: %w", id, ErrUnsupported))
		} else if place <= last {
			r.malformed("sections out of order")
		} else {
			last = place
			m.sections[id], m.present[id] = content, true
		}
	}
	return r.err
}

func (m *module) keepCustom(outer *reader, content []byte) {
	r := &reader{data: content}
	name := r.name()
	if r.err == nil && !utf8.ValidString(name) {
		r.malformed("name of a custom section")
	}
	if r.err != nil {
		outer.fail(r.err)
		return
	}
	switch name {
	case "name":
		if m.names != nil {
			outer.malformed("two name sections")
		}
		m.names = content[r.at:]
	case "fastreact.manifest":
		m.manifest = append(m.manifest, content)
	}
}

const (
	maxItems  = 100_000 // types, imports, functions, tables, globals, exports or segments
	maxValues = 1000    // parameters or results of one function
	maxLocals = 50_000  // of one function
	maxPages  = 65_536
	maxDepth  = 1<<31 - 1
)

// items reads the number of items of a section that is bounded by more than its bytes.
func (r *reader) items() int {
	n := r.count()
	if n > maxItems {
		r.fail(fmt.Errorf("%d items of one section: %w", n, ErrTooLarge))
		return 0
	}
	return n
}

func (m *module) readTypes(r *reader) {
	n := r.items()
	for i := 0; i < n && r.err == nil; i++ {
		if r.byte() != 0x60 {
			r.fail(fmt.Errorf("type that is no function: %w", ErrUnsupported))
		}
		s := signature{params: r.valueTypes()}
		s.results = r.valueTypes()
		m.types = append(m.types, s)
		if _, known := m.typeAt[s.key()]; !known {
			m.typeAt[s.key()] = uint32(len(m.types) - 1)
		}
	}
}

func (r *reader) valueTypes() []byte {
	n := r.count()
	if n > maxValues {
		r.fail(fmt.Errorf("function of %d parameters or results: %w", n, ErrUnsupported))
	}
	start := r.at
	for i := 0; i < n && r.err == nil; i++ {
		r.valueType()
	}
	if r.err != nil {
		return nil
	}
	return r.data[start:r.at]
}

func (s signature) key() string { return string(s.params) + ">" + string(s.results) }

// typeOf gives the index of a signature, which is added when the module has none like it.
func (m *module) typeOf(params, results string) uint32 {
	s := signature{[]byte(params), []byte(results)}
	index, known := m.typeAt[s.key()]
	if !known {
		index = uint32(len(m.types))
		m.typeAt[s.key()] = index
		m.types = append(m.types, s)
		m.addedTypes++
	}
	return index
}

// typeIndex reads the index of a type of the author's.
func (m *module) typeIndex(r *reader) uint32 {
	index := r.u32()
	if r.err == nil && uint64(index) >= uint64(len(m.types)) {
		r.malformed("unknown type")
	}
	if r.err != nil {
		return 0
	}
	return index
}

func (m *module) readImports(r *reader) {
	n := r.items()
	m.imported = uint32(n)
	for i := 0; i < n && r.err == nil; i++ {
		from, name := r.name(), r.name()
		if strings.HasPrefix(from, reserved) {
			r.fail(fmt.Errorf("import from %q: %w", from, ErrReserved))
		}
		switch kind := r.byte(); kind {
		case kindFunction:
			m.imports = append(m.imports, importedFunction{m.typeIndex(r), from + "." + name})
		case kindTable:
			r.referenceType()
			r.limits(noLimit)
		case kindMemory:
			r.limits(noLimit)
		case kindGlobal:
			m.globals = append(m.globals, m.globalType(r))
		default:
			r.fail(fmt.Errorf("import of kind %d: %w", kind, ErrUnsupported))
		}
	}
	m.ownGlobal = uint32(len(m.globals))
}

func (m *module) readFunctions(r *reader) {
	n := r.items()
	for i := 0; i < n && r.err == nil; i++ {
		m.functions = append(m.functions, &function{typ: m.typeIndex(r)})
	}
}

func (m *module) globalType(r *reader) global {
	g := global{kind: r.valueType()}
	switch r.byte() {
	case 0:
	case 1:
		g.mutable = true
	default:
		r.malformed("mutability of a global")
	}
	if number := g.kind >= 0x7c && g.kind <= 0x7f; g.mutable && !number {
		m.lasts("a mutable global that is no number")
	}
	return g
}

// readGlobals learns the types; the values are checked when they are written.
func (m *module) readGlobals(r *reader) {
	n := r.items()
	for i := 0; i < n && r.err == nil; i++ {
		m.globals = append(m.globals, m.globalType(r))
		m.constant(r, nil)
	}
}

func (m *module) mutableNames() []string {
	var names []string
	for i := range m.mutable {
		names = append(names, fmt.Sprintf("%sglobal/%d", reserved, i))
	}
	return names
}

// mutable yields the index of each mutable global of the author's.
func (m *module) mutable(yield func(uint32) bool) {
	for i, g := range m.globals {
		if g.mutable && !yield(uint32(i)) {
			return
		}
	}
}

func (m *module) fuelIndex() uint32  { return uint32(len(m.globals)) }
func (m *module) depthIndex() uint32 { return uint32(len(m.globals)) + 1 }

// all is the number of the author's functions, imported ones included.
func (m *module) all() uint32 { return uint32(len(m.imports) + len(m.functions)) }
