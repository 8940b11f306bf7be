package meter

import "fmt"

// frame is a block that is open while a body is read.
type frame struct {
	region int32  // what its instructions are charged with
	merges uint64 // values that the engine may have to carry along where ways meet, beside the locals set inside
	sets   uint64 // instructions inside that set a local
}

const (
	freeMerges = 32      // values that may be carried along where ways meet, and cost nothing
	maxMerges  = 1 << 25 // of all functions together: the engine's compiler needs room and time for each
)

// survey reads a body once. open is room for the blocks that are open; it is returned for reuse.
//
// Where ways meet, at the end of a block and the beginning of a loop, the engine may have to move every local that was set
// inside, and whatever the block takes and gives. A few are free; more are charged, because one branch can move thousands.
func (m *module) survey(r *reader, f *function, open []frame) []frame {
	f.costs = append(f.costs, 1+m.carried(uint64(f.locals)+uint64(len(m.types[f.typ].results)), f))
	open = append(open, frame{})
	for r.err == nil && len(open) > 0 {
		in := r.instruction()
		if r.err == nil {
			m.check(r, f, in, len(open))
		}
		if r.err != nil {
			break
		}
		top := &open[len(open)-1]
		f.note(in, top.region)
		switch in.code {
		case opLocalSet, opLocalTee:
			top.sets++
		case opBlock, opIf:
			open = append(open, frame{region: top.region, merges: m.arity(in.index)})
		case opLoop:
			open = append(open, frame{region: int32(len(f.costs)), merges: m.arity(in.index)})
			f.costs = append(f.costs, 1)
		case opEnd:
			open = m.closeBlock(f, open)
		}
	}
	if r.err == nil && r.more() {
		r.malformed("code after the end of a function")
	}
	if r.err == nil && m.merges > maxMerges {
		r.fail(fmt.Errorf("values where ways meet: %w", ErrTooLarge))
	}
	return open
}

func (m *module) closeBlock(f *function, open []frame) []frame {
	closed := open[len(open)-1]
	open = open[:len(open)-1]
	if len(open) > 0 {
		f.costs[closed.region] += m.carried(min(closed.sets, uint64(f.locals))+closed.merges, f)
		open[len(open)-1].sets += closed.sets
	}
	return open
}

// carried is what it costs to carry so many values along.
func (m *module) carried(values uint64, f *function) uint64 {
	m.merges += values
	if values <= freeMerges {
		return 0
	}
	f.values += values
	return values / 2
}

// arity is the number of values that a block takes and gives, but for the one that most give.
func (m *module) arity(index uint32) uint64 {
	if index == noType {
		return 0
	}
	return uint64(len(m.types[index].params) + len(m.types[index].results))
}

// check refuses indices that would meet what the meter adds.
func (m *module) check(r *reader, f *function, in instruction, open int) {
	switch in.code {
	case opBr, opBrIf, opBrTable:
		if uint64(in.index) >= uint64(open) {
			r.malformed("unknown label")
		}
	case opLocalGet, opLocalSet, opLocalTee:
		if in.index >= f.locals {
			r.malformed("unknown local")
		}
	case opGlobalGet, opGlobalSet:
		m.knownGlobal(r, in.index)
	case opCall, opRefFunc:
		if in.index >= m.all() {
			r.malformed("unknown function")
		}
	case opCallIndirect:
		m.checkType(r, in.index)
	case opBlock, opLoop, opIf:
		if in.index != noType {
			m.checkType(r, in.index)
		}
	case opTableSet, opTableInit, opTableCopy, opTableGrow, opTableFill, opElemDrop:
		if m.options.Snapshot {
			r.fail(fmt.Errorf("instruction %#x: %w", in.code, ErrNotRestorable))
		}
	}
	m.uses.note(in.code)
}

func (u *uses) note(code uint16) {
	switch code {
	case opMemoryGrow:
		u.grow = true
	case opMemoryFill:
		u.fill = true
	case opMemoryCopy:
		u.copy = true
	case opMemoryInit:
		u.init = true
	case opDataDrop:
		u.drop = true
	case opTableInit, opTableCopy, opTableGrow, opTableFill:
		u.tables = true
	}
}

func (m *module) checkType(r *reader, index uint32) {
	if uint64(index) >= uint64(len(m.types)) {
		r.malformed("unknown type")
	}
}

// note adds an instruction to the region it stands in.
func (f *function) note(in instruction, here int32) {
	f.costs[here] += price(in.code)
	switch in.code {
	case opCall:
		f.calls = append(f.calls, callSite{here, in.index})
	case opCallIndirect:
		f.indirect = true
	case opMemoryCopy, opMemoryFill:
		f.moving = true
	}
	f.ticks = f.ticks || ticks(in.code)
	if makesValue(in.code) {
		f.values++
	}
}

// ticks says whether an instruction changes the fuel, or may: a direct call does unless it spares its callee.
func ticks(code uint16) bool {
	switch code {
	case opCallIndirect, opMemoryGrow, opMemoryInit, opMemoryCopy, opMemoryFill,
		opTableInit, opTableCopy, opTableGrow, opTableFill:
		return true
	}
	return false
}

// price is what an instruction costs wherever it stands.
func price(code uint16) uint64 {
	switch code {
	case opBlock, opLoop, opElse, opEnd:
		return 0
	case opCallIndirect:
		return 4 + sparedCost
	case opCall, opMemoryGrow, opMemoryInit, opMemoryCopy, opMemoryFill, opTableInit, opTableCopy, opTableGrow, opTableFill:
		return 4
	case 0x6d, 0x6e, 0x6f, 0x70, 0x7f, 0x80, 0x81, 0x82, // division and remainder of integers
		0x91, 0x95, 0x9f, 0xa3, // sqrt and div of floats
		0xfde3, 0xfde7, 0xfdef, 0xfdf3: // and of vectors of them
		return 4
	}
	return 1
}

// makesValue reports instructions whose result may need room in the frame.
func makesValue(code uint16) bool {
	switch code {
	case opBlock, opLoop, opIf, opElse, opEnd, opBr, opBrIf, opBrTable, opReturn, opDrop,
		opLocalGet, opLocalSet, opLocalTee, opGlobalSet, opI32Const, opI64Const:
		return false
	}
	return code > 1 && (code < 0x36 || code > 0x3e) // stores
}
