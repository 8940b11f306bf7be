package meter

import (
	"fmt"
	"strings"
)

// write puts the metered module together. The type section is made last, because the others may need new types.
func (m *module) write() ([]byte, error) {
	helpers := m.addedFunctions()
	var made [sectionKinds][]byte
	steps := [...]struct {
		section byte
		write   func(*reader) []byte
	}{
		{sectionImport, m.writeImports},
		{sectionFunction, func(r *reader) []byte { return m.writeFunctions(r, helpers) }},
		{sectionTable, m.capTables},
		{sectionMemory, m.capMemories},
		{sectionGlobal, m.writeGlobals},
		{sectionExport, m.writeExports},
		{sectionStart, func(r *reader) []byte { return appendU32(nil, m.functionIndex(r)) }},
		{sectionElement, m.elements},
		{sectionDataCount, func(r *reader) []byte { return appendU32(nil, r.u32()) }},
		{sectionCode, func(*reader) []byte { return m.writeCode(helpers) }},
		{sectionData, m.dataSegments},
		{sectionType, m.writeTypes},
	}
	for _, step := range steps {
		r, err := m.rewritten(step.section)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		made[step.section] = step.write(r)
		if step.section == sectionCode {
			continue // read before
		}
		if err := r.done(); err != nil {
			return nil, fmt.Errorf("section %d: %w", step.section, err)
		}
	}
	return m.join(made, helpers), nil
}

// rewritten gives the content of a section that the result has, or nil. An absent one counts as an empty vector.
func (m *module) rewritten(section byte) (*reader, error) {
	switch section {
	case sectionType, sectionImport, sectionFunction, sectionGlobal, sectionExport, sectionCode:
		if !m.present[section] {
			return &reader{data: []byte{0}}, nil
		}
	}
	if !m.present[section] {
		return nil, nil
	}
	return &reader{data: m.sections[section]}, nil
}

func (m *module) join(made [sectionKinds][]byte, helpers []added) []byte {
	size := len(header)
	for _, content := range made {
		size += len(content) + 8
	}
	out := append(make([]byte, 0, size+len(m.names)), header...)
	for _, section := range sectionOrder {
		if made[section] != nil {
			out = appendSized(append(out, section), made[section])
		}
	}
	if names := m.shiftNames(helpers); names != nil {
		out = appendSized(append(out, sectionCustom), append(appendSized(nil, "name"), names...))
	}
	for _, manifest := range m.manifest {
		out = appendSized(append(out, sectionCustom), manifest)
	}
	return out
}

// extend copies the rest of a vector whose length has been read, with room for more elements in front of the rest.
func extend(r *reader, length, more int) []byte {
	out := appendU32(nil, uint32(length+more))
	return append(out, r.take(len(r.data)-r.at)...)
}

func (m *module) writeTypes(r *reader) []byte {
	out := extend(r, r.count(), m.addedTypes)
	for _, s := range m.types[len(m.types)-m.addedTypes:] {
		out = appendSized(append(out, 0x60), s.params)
		out = appendSized(out, s.results)
	}
	return out
}

func (m *module) writeImports(r *reader) []byte {
	out := extend(r, r.count(), 1)
	out = appendSized(appendSized(out, ImportModule), TickFunction)
	return appendIndexed(out, kindFunction, m.typeOf("\x7f\x7e", "\x7e"))
}

func (m *module) writeFunctions(r *reader, helpers []added) []byte {
	out := extend(r, r.count(), len(helpers))
	for _, h := range helpers {
		out = appendU32(out, m.typeOf(h.params, h.results))
	}
	return out
}

func (m *module) writeGlobals(r *reader) []byte {
	n := r.count()
	out := appendU32(nil, uint32(n+2))
	for range n {
		out = append(out, r.byte(), r.byte())
		out = m.constant(r, out)
	}
	out = append(out, typeI64, 1, opI64Const, 0, opEnd)
	out = append(out, typeI32, 1, opI32Const)
	return append(appendSigned(out, int64(m.options.CallDepth)), opEnd)
}

func (m *module) writeExports(r *reader) []byte {
	n := r.items()
	names := m.mutableNames()
	out := appendU32(nil, uint32(n+len(names)+2))
	for i := 0; i < n && r.err == nil; i++ {
		out = m.writeExport(r, out)
	}
	i := 0
	for index := range m.mutable {
		out = appendIndexed(appendSized(out, names[i]), kindGlobal, index)
		i++
	}
	out = appendIndexed(appendSized(out, FuelGlobal), kindGlobal, m.fuelIndex())
	return appendIndexed(appendSized(out, DepthGlobal), kindGlobal, m.depthIndex())
}

func (m *module) writeExport(r *reader, out []byte) []byte {
	name, kind := r.name(), r.byte()
	if strings.HasPrefix(name, reserved) {
		r.fail(fmt.Errorf("export %q: %w", name, ErrReserved))
	}
	var index uint32
	switch kind {
	case kindFunction:
		index = m.functionIndex(r)
	case kindTable, kindMemory:
		index = r.u32()
	case kindGlobal:
		index = r.u32()
		m.knownGlobal(r, index)
	default:
		r.fail(fmt.Errorf("export of kind %d: %w", kind, ErrUnsupported))
	}
	return appendIndexed(appendSized(out, name), kind, index)
}

func (m *module) writeCode(helpers []added) []byte {
	room := 8
	for _, f := range m.functions {
		room += f.room() + 5
	}
	out := appendU32(make([]byte, 0, min(room, 2*m.size)), uint32(len(m.functions)+len(helpers)))
	var body []byte
	for _, f := range m.functions {
		body = m.writeBody(f, body[:0])
		out = appendSized(out, body)
	}
	for _, h := range helpers {
		out = appendSized(out, h.body)
	}
	return out
}
