package meter

// assembler writes instructions one after the other.
type assembler struct {
	m   *module
	out []byte
}

// assembler begins a body without locals.
func (m *module) assembler() *assembler { return &assembler{m: m, out: []byte{0}} }

func (a *assembler) op(codes ...byte) *assembler {
	a.out = append(a.out, codes...)
	return a
}

func (a *assembler) local(op byte, index uint32) *assembler {
	a.out = appendIndexed(a.out, op, index)
	return a
}

func (a *assembler) get(locals ...uint32) *assembler {
	for _, index := range locals {
		a.local(opLocalGet, index)
	}
	return a
}

func (a *assembler) i32(value uint32) *assembler {
	a.out = appendSigned(append(a.out, opI32Const), int64(int32(value)))
	return a
}

func (a *assembler) i64(value int64) *assembler {
	a.out = appendSigned(append(a.out, opI64Const), value)
	return a
}

func (a *assembler) fuel(op byte) *assembler {
	a.out = appendIndexed(a.out, op, a.m.fuelIndex())
	return a
}

func (a *assembler) call(function uint32) *assembler {
	a.out = appendIndexed(a.out, opCall, function)
	return a
}

// tick asks the host for fuel to go on with.
func (a *assembler) tick(reason uint32, price int64) *assembler {
	a.i32(reason).fuel(opGlobalGet)
	if price > 0 {
		a.i64(price).op(opI64Sub)
	}
	return a.call(a.m.tickIndex())
}

// spend takes the i64 on the stack from the fuel below it.
func (a *assembler) spend() *assembler {
	a.out = a.m.appendSpend(append(a.out, opI64Sub))
	return a
}

func (a *assembler) charge(cost uint64) *assembler {
	a.out = a.m.appendCharge(a.out, cost)
	return a
}

// add changes a local by an amount.
func (a *assembler) add(index uint32, op byte, amount uint32) *assembler {
	return a.get(index).i32(amount).op(op).local(opLocalSet, index)
}

// atMost leaves the smaller of a local and a bound on the stack, unsigned.
func (a *assembler) atMost(index, bound uint32) *assembler {
	return a.get(index).i32(bound).get(index).i32(bound).op(opI32LeU, opSelect)
}

// within leaves on the stack whether so many bytes (a local) from an address (another) are in memory.
func (a *assembler) within(address, size uint32) *assembler {
	a.get(address).op(opExtendU).get(size).op(opExtendU, opI64Add)
	return a.op(opMemorySize, 0, opExtendU).i64(16).op(opI64Shl, opI64LeU)
}

// whileLarge closes a loop that runs until a local is no larger than a piece.
func (a *assembler) whileLarge(size uint32) *assembler {
	return a.large(size).op(opBrIf, 0, opEnd)
}

func (a *assembler) large(size uint32) *assembler { return a.get(size).i32(pieceBytes).op(opI32GtU) }

func (a *assembler) end() []byte { return append(a.out, opEnd) }
