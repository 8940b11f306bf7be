package meter

import "slices"

// body is a function's body while it is written.
type body struct {
	*module
	f    *function
	out  []byte
	open []bool // for each open block whether it is, or stands in, a loop
	next int    // the region that begins next
}

// fuelLocal is the local in which loops keep the fuel.
func (b *body) fuelLocal() uint32 { return b.f.locals }

// room is about how many bytes the metered body of a function has.
func (f *function) room() int { return len(f.code) + len(f.groups) + 32*len(f.regions) + 64 }

// writeBody appends the metered body of a function.
//
// The author's code stands in a block of its own when calls are counted, so that every way out of it, a branch to the
// outermost label, return or the end, comes to where the depth is given back. Label indices stay what they were.
func (m *module) writeBody(f *function, out []byte) []byte {
	b := &body{module: m, f: f, next: 1, out: slices.Grow(out, f.room())}
	b.locals()
	if f.counted {
		b.descend()
	}
	if !f.spared {
		b.charge(f.regions[0].cost)
	}
	if f.counted {
		b.out = append(append(b.out, opBlock), m.resultType(f)...)
	}
	b.code()
	if f.counted {
		b.ascend()
	}
	return b.out
}

func (b *body) locals() {
	groups := b.f.nGroups
	var own []byte
	if b.f.looping {
		groups, own = groups+1, append(own, 1, typeI64)
	}
	if b.f.moving {
		groups, own = groups+1, append(own, 3, typeI32)
	}
	b.out = append(append(appendU32(b.out, groups), b.f.groups...), own...)
}

// resultType is the type of a block that gives what the function gives.
func (m *module) resultType(f *function) []byte {
	switch results := m.types[f.typ].results; len(results) {
	case 0:
		return []byte{blockEmpty}
	case 1:
		return results
	default:
		return appendSigned(nil, int64(m.typeOf("", string(results))))
	}
}

// charge takes fuel from the global, and ticks when none is left.
func (b *body) charge(cost uint64) {
	b.out = b.appendCharge(b.out, cost)
}

// take takes fuel from the global without asking how much is left.
func (b *body) take(cost uint64) {
	b.out = appendIndexed(b.out, opGlobalGet, b.fuelIndex())
	b.out = appendSigned(append(b.out, opI64Const), int64(cost))
	b.out = appendIndexed(append(b.out, opI64Sub), opGlobalSet, b.fuelIndex())
}

// takeLocal does the same in a loop, where the local has the fuel too.
func (b *body) takeLocal(cost uint64) {
	b.out = appendIndexed(b.out, opLocalGet, b.fuelLocal())
	b.out = appendSigned(append(b.out, opI64Const), int64(cost))
	b.out = appendIndexed(append(b.out, opI64Sub), opLocalTee, b.fuelLocal())
	b.out = appendIndexed(b.out, opGlobalSet, b.fuelIndex())
}

func (m *module) appendCharge(out []byte, cost uint64) []byte {
	out = appendIndexed(out, opGlobalGet, m.fuelIndex())
	out = appendSigned(append(out, opI64Const), int64(cost))
	return m.appendSpend(append(out, opI64Sub))
}

// appendSpend makes the value on the stack the fuel that is left, and ticks when it is below zero.
func (m *module) appendSpend(out []byte) []byte {
	out = appendIndexed(out, opGlobalSet, m.fuelIndex())
	out = appendIndexed(append(out, opBlock, blockEmpty), opGlobalGet, m.fuelIndex())
	out = append(out, opI64Const, 0, opI64GeS, opBrIf, 0)
	out = appendIndexed(out, opCall, m.helpers.refill)
	return append(out, opEnd)
}

// chargeLocal does the same where a turn of a loop begins. The fuel is in a local there, which spares a load in every
// turn; the global is still written, so that it is right however the loop is left.
func (b *body) chargeLocal(cost uint64) {
	b.takeLocal(cost)
	b.out = appendIndexed(append(b.out, opBlock, blockEmpty), opLocalGet, b.fuelLocal())
	b.out = append(b.out, opI64Const, 0, opI64GeS, opBrIf, 0)
	b.out = appendIndexed(b.out, opCall, b.helpers.refill)
	b.loadFuel()
	b.out = append(b.out, opEnd)
}

func (b *body) loadFuel() {
	b.out = appendIndexed(b.out, opGlobalGet, b.fuelIndex())
	b.out = appendIndexed(b.out, opLocalSet, b.fuelLocal())
}

func (b *body) descend() {
	depth := b.depthIndex()
	b.out = appendIndexed(b.out, opGlobalGet, depth)
	b.out = appendSigned(append(b.out, opI32Const), b.f.weight())
	b.out = appendIndexed(append(b.out, opI32Sub), opGlobalSet, depth)
	b.out = appendIndexed(b.out, opGlobalGet, depth)
	b.out = append(b.out, opI32Const, 0, opI32LtS, opIf, blockEmpty)
	b.out = appendIndexed(b.out, opCall, b.helpers.exceed)
	b.out = append(b.out, opUnreachable, opEnd)
}

func (b *body) ascend() {
	depth := b.depthIndex()
	b.out = appendIndexed(b.out, opGlobalGet, depth)
	b.out = appendSigned(append(b.out, opI32Const), b.f.weight())
	b.out = appendIndexed(append(b.out, opI32Add), opGlobalSet, depth)
	b.out = append(b.out, opEnd)
}

// code copies the instructions and puts the meter's between them. The first reading has checked them.
func (b *body) code() {
	r := &reader{data: b.f.code}
	b.open = append(b.open, false)
	copied := 0
	for r.more() {
		start := r.at
		in := r.instruction()
		begins := b.next < len(b.f.regions) && b.f.regions[b.next].at == r.at
		if !b.changes(in) && !begins {
			continue
		}
		b.out = append(b.out, b.f.code[copied:start]...)
		copied = r.at
		b.write(in, b.f.code[start:r.at])
		if begins {
			b.begin(in.code == opLoop)
		}
	}
	b.out = append(b.out, b.f.code[copied:]...)
}

// changes keeps track of blocks and reports whether an instruction is written otherwise than it stands.
func (b *body) changes(in instruction) bool {
	switch in.code {
	case opBlock, opIf:
		b.open = append(b.open, b.open[len(b.open)-1])
	case opEnd:
		b.open = b.open[:len(b.open)-1]
	case opReturn:
		return b.f.counted
	case opLoop, opCall, opRefFunc:
		return true
	}
	return ticks(in.code)
}

func (b *body) write(in instruction, raw []byte) {
	switch in.code {
	case opLoop:
		b.loop(raw)
		return
	case opEnd:
		b.out = append(b.out, raw...)
		return
	case opReturn:
		b.out = appendIndexed(b.out, opBr, uint32(len(b.open)-1))
		return
	case opCall, opRefFunc:
		b.out = appendIndexed(b.out, byte(in.code), b.shifted(in.index))
		if in.code == opRefFunc || b.spares(in.index) {
			return
		}
	case opCallIndirect:
		b.out = append(b.out, raw...)
	default:
		b.bulk(in.code, raw)
	}
	if b.open[len(b.open)-1] {
		b.loadFuel()
	}
}

// bulk writes an operation that costs by size.
func (b *body) bulk(code uint16, raw []byte) {
	switch code {
	case opMemoryGrow:
		b.out = appendIndexed(b.out, opCall, b.helpers.grow)
	case opMemoryFill:
		b.move(b.helpers.fill, raw)
	case opMemoryCopy:
		b.move(b.helpers.copy, raw)
	case opMemoryInit:
		b.out = append(appendIndexed(b.out, opCall, b.helpers.chargeBytes), raw...)
	default: // operations on tables: the number of entries is on top of the stack
		b.out = append(appendIndexed(b.out, opCall, b.helpers.chargeEntries), raw...)
	}
}

// move writes memory.fill or memory.copy. A small one, which is nearly every one, stays where it is: the engine is slow
// at calling a function that has one in it.
func (b *body) move(large uint32, raw []byte) {
	first := b.f.locals
	if b.f.looping {
		first++
	}
	second, size := first+1, first+2
	a := &assembler{m: b.module, out: b.out}
	a.local(opLocalSet, size).local(opLocalSet, second).local(opLocalSet, first)
	a.large(size).op(opIf, blockEmpty).get(first, second, size).call(large)
	a.op(opElse).spendBytes(size).get(first, second, size).op(raw...).op(opEnd)
	b.out = a.out
}

// loop writes the beginning of a loop. Outside of loops the local may be stale.
func (b *body) loop(raw []byte) {
	if !b.open[len(b.open)-1] {
		b.loadFuel()
	}
	b.open = append(b.open, true)
	b.out = append(b.out, raw...)
}

// begin charges for the region that begins. Only loops need to ask whether fuel is left: until the next one begins, or
// the next function, every region is charged once at most.
func (b *body) begin(loop bool) {
	cost := b.f.regions[b.next].cost
	b.next++
	inside := b.open[len(b.open)-1]
	switch {
	case loop:
		b.chargeLocal(cost)
	case cost == 0:
	case inside:
		b.takeLocal(cost)
	default:
		b.take(cost)
	}
}
