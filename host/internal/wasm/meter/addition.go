package meter

// helpers are the indices of the functions that are added after the author's. Those a module does not need are not
// added; their index is 0.
type helpers struct {
	refill, exceed, grow, fill, copy, chargeBytes, chargeEntries uint32

	firstImport uint32 // the stand-ins of imported functions, in their order
}

const (
	opUnreachable = 0x00
	opI32LtS      = 0x48
	opI32GtU      = 0x4b
	opI32LeU      = 0x4d
	opI64GeS      = 0x59
	opI64LeU      = 0x58
	opI32Add      = 0x6a
	opI32Sub      = 0x6b
	opI32And      = 0x71
	opI32ShrU     = 0x76
	opI64Add      = 0x7c
	opI64Sub      = 0x7d
	opI64Shl      = 0x86
	opExtendU     = 0xad // i64.extend_i32_u

	typeI32    = 0x7f
	typeI64    = 0x7e
	blockEmpty = 0x40
)

const (
	pieceBytes = 1 << 20 // the most that memory.fill and memory.copy do at once
	byteShift  = 3       // a fuel for each 8 bytes
	pageShift  = 16 - byteShift
)

// added is a function that the meter adds.
type added struct {
	params, results string
	name            string
	body            []byte // locals and instructions
}

// tickIndex is the index of the import that the meter adds, after the author's.
func (m *module) tickIndex() uint32 { return uint32(len(m.imports)) }

// shifted gives the new index of a function. Imported ones are replaced by their stand-ins.
func (m *module) shifted(index uint32) uint32 {
	if int(index) < len(m.imports) {
		return m.helpers.firstImport + index
	}
	return index + 1
}

// placeHelpers gives every function to be added its index, in the order in which addedFunctions makes them.
func (m *module) placeHelpers() {
	next := m.all() + 1
	place := func(index *uint32, needed bool) {
		if needed {
			*index = next
			next++
		}
	}
	place(&m.helpers.refill, true)
	place(&m.helpers.exceed, true)
	place(&m.helpers.grow, m.uses.grow)
	place(&m.helpers.fill, m.uses.fill)
	place(&m.helpers.copy, m.uses.copy)
	place(&m.helpers.chargeBytes, m.uses.init)
	place(&m.helpers.chargeEntries, m.uses.tables)
	m.helpers.firstImport = next
}

func (m *module) addedFunctions() []added {
	list := []added{
		{"", "", "refill", m.assembler().tick(FuelSpent, 0).fuel(opGlobalSet).end()},
		{"", "", "exceed", m.assembler().tick(TooDeep, 0).op(opDrop).end()},
	}
	const one, three = "\x7f", "\x7f\x7f\x7f"
	if m.uses.grow {
		list = append(list, added{one, one, "memory.grow", m.growBody()})
	}
	if m.uses.fill {
		list = append(list, added{three, "", "memory.fill", m.fillBody()})
	}
	if m.uses.copy {
		list = append(list, added{three, "", "memory.copy", m.copyBody()})
	}
	if m.uses.init {
		body := m.assembler().fuel(opGlobalGet).get(0).i32(byteShift).op(opI32ShrU, opExtendU).spend().get(0).end()
		list = append(list, added{one, one, "memory.init", body})
	}
	if m.uses.tables {
		body := m.assembler().fuel(opGlobalGet).atMost(0, m.options.TableEntries).op(opExtendU).spend().get(0).end()
		list = append(list, added{one, one, "table", body})
	}
	for i, f := range m.imports {
		s := m.types[f.typ]
		list = append(list, added{string(s.params), string(s.results), f.name, m.standIn(uint32(i), len(s.params))})
	}
	return list
}

// standIn calls an imported function after a tick. Everything that names the imported function names it instead.
func (m *module) standIn(imported uint32, params int) []byte {
	a := m.assembler().tick(HostCall, HostCallFuel).fuel(opGlobalSet)
	for i := range params {
		a.get(uint32(i))
	}
	return a.call(imported).end()
}

// growBody charges for pages that there will be; a growth that must fail costs nothing.
func (m *module) growBody() []byte {
	a := m.assembler().fuel(opGlobalGet)
	a.get(0).i32(0).get(0).i32(m.options.MemoryPages).op(opI32LeU, opSelect, opExtendU)
	return a.i64(pageShift).op(opI64Shl).spend().get(0).op(opMemoryGrow, 0).end()
}

// fillBody is memory.fill(address, value, size) in pieces. What is out of bounds is left to the one instruction at the
// end, which traps before it writes.
func (m *module) fillBody() []byte {
	const address, value, size = 0, 1, 2
	fill := []byte{opBulk, opMemoryFill & 0xff, 0}
	a := m.assembler().large(size).op(opIf, blockEmpty).within(address, size).op(opIf, blockEmpty)
	a.op(opLoop, blockEmpty).get(address, value).i32(pieceBytes).op(fill...)
	a.add(address, opI32Add, pieceBytes).add(size, opI32Sub, pieceBytes)
	a.charge(pieceBytes>>byteShift).whileLarge(size).op(opEnd, opEnd)
	return a.spendBytes(size).get(address, value, size).op(fill...).end()
}

// copyBody is memory.copy(to, from, size) in pieces, from the front or from the back as an overlap demands.
func (m *module) copyBody() []byte {
	const to, from, size = 0, 1, 2
	move := []byte{opBulk, opMemoryCopy & 0xff, 0, 0}
	a := m.assembler().large(size).op(opIf, blockEmpty)
	a.within(to, size).within(from, size).op(opI32And, opIf, blockEmpty)
	a.get(to, from).op(opI32LeU, opIf, blockEmpty)
	a.op(opLoop, blockEmpty).get(to, from).i32(pieceBytes).op(move...)
	a.add(to, opI32Add, pieceBytes).add(from, opI32Add, pieceBytes).add(size, opI32Sub, pieceBytes)
	a.charge(pieceBytes >> byteShift).whileLarge(size).op(opElse)
	a.op(opLoop, blockEmpty).add(size, opI32Sub, pieceBytes)
	a.get(to, size).op(opI32Add).get(from, size).op(opI32Add).i32(pieceBytes).op(move...)
	a.charge(pieceBytes>>byteShift).whileLarge(size).op(opEnd, opEnd, opEnd)
	return a.spendBytes(size).get(to, from, size).op(move...).end()
}

// spendBytes charges for so many bytes, a local.
func (a *assembler) spendBytes(size uint32) *assembler {
	return a.fuel(opGlobalGet).get(size).i32(byteShift).op(opI32ShrU, opExtendU).spend()
}
