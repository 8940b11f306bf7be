package meter

import "fmt"

// frame is a block that is open while a body is read.
type frame struct {
	loop   bool
	region int32  // a loop's own, else the one in which the block was opened
	after  int32  // the region in which a loop was opened, and where its end comes back to
	size   uint64 // cost of what is inside and outside of loops
	merges uint64 // values that the block takes and gives
	sets   uint64 // instructions inside that set a local
}

const (
	smallBlock = 48      // the cost of a block that is charged with what stands before it
	freeMerges = 32      // values that may be carried along where ways meet, and cost nothing
	maxMerges  = 1 << 23 // of all functions together, for the engine's compiler needs some 10 µs for each
	anyMerges  = 1 << 17 // that a module may have however small it is; further ones need a byte each
)

// survey reads a body once. open is room for the blocks that are open; it is returned for reuse.
//
// A body is cut into regions, each charged where it begins: at the beginning of the function, of a loop, and behind the
// end of a block that is not small. All ways to an instruction lead through the beginning of its region, so nothing runs
// uncharged; and what a branch passes over is not charged, but for small blocks. (A Go function is one loop around a
// chain of blocks, of which a turn runs a few.)
//
// Where ways meet, at the end of a block and the beginning of a loop, the engine may have to move every local that was set
// inside, and whatever the block takes and gives. A few are free; more are charged, because one branch can move thousands.
func (m *module) survey(r *reader, f *function, open []frame) []frame {
	f.regions = append(f.regions, region{cost: 1})
	m.carry(f, 0, uint64(f.locals)+uint64(len(m.types[f.typ].results)))
	open = append(open, frame{})
	here := int32(0)
	for r.err == nil && len(open) > 0 {
		in := r.instruction()
		if r.err == nil {
			m.check(r, f, in, len(open))
		}
		if r.err != nil {
			break
		}
		top := &open[len(open)-1]
		top.size += f.note(in, here)
		switch in.code {
		case opLocalSet, opLocalTee:
			top.sets++
		case opBlock, opIf:
			open = append(open, frame{region: here, merges: m.arity(in.index)})
		case opElse:
			here = top.region
		case opLoop:
			after := here
			f.looping, here = true, f.begin(r.at, 1)
			open = append(open, frame{loop: true, region: here, after: after, merges: m.arity(in.index)})
		case opEnd:
			here = m.closeBlock(f, open, r.at)
			open = open[:len(open)-1]
		}
	}
	if r.err == nil && r.more() {
		r.malformed("code after the end of a function")
	}
	if r.err == nil && m.merges > min(maxMerges, anyMerges+uint64(m.size)) {
		r.fail(fmt.Errorf("values where ways meet: %w", ErrTooLarge))
	}
	return open
}

// begin opens a region behind an instruction.
func (f *function) begin(at int, cost uint64) int32 {
	f.regions = append(f.regions, region{at: at, cost: cost})
	return int32(len(f.regions) - 1)
}

// closeBlock gives the region that goes on behind the end of the innermost block.
func (m *module) closeBlock(f *function, open []frame, at int) int32 {
	if len(open) == 1 {
		return 0
	}
	closed, outer := &open[len(open)-1], &open[len(open)-2]
	outer.sets += closed.sets
	carried := min(closed.sets, uint64(f.locals)) + closed.merges
	if closed.loop {
		m.carry(f, closed.region, carried)
		return closed.after
	}
	outer.size += closed.size
	here := closed.region
	if closed.size > smallBlock {
		here = f.begin(at, 0)
	}
	m.carry(f, here, carried)
	return here
}

// carry charges a region for so many values that are carried along.
func (m *module) carry(f *function, here int32, values uint64) {
	m.merges += values
	if values > freeMerges {
		f.values += values
		f.regions[here].cost += values / 2
	}
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
		m.lasts(fmt.Sprintf("instruction %#x", in.code))
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

// note adds an instruction to the region it stands in, and gives its price.
func (f *function) note(in instruction, here int32) uint64 {
	cost := price(in.code)
	f.regions[here].cost += cost
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
	return cost
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
