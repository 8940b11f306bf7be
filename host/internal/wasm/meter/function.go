package meter

import "fmt"

// function is what the first reading of a body tells the second.
type function struct {
	typ      uint32
	groups   []byte // declarations of locals as they stand in the module, without their number
	nGroups  uint32
	code     []byte   // instructions
	costs    []uint64 // of the regions: the function without its loops, then each loop without inner ones
	calls    []callSite
	values   uint64 // instructions that make a value
	locals   uint32 // parameters included
	indirect bool   // calls through a table
	ticks    bool   // changes the fuel otherwise than by a direct call
	spared   bool   // charged by its callers
	counted  bool   // may be active more than once
	moving   bool   // has memory.fill or memory.copy, whose operands are kept in locals
}

type callSite struct {
	region int32
	callee uint32
}

const (
	sparedCost   = 16 // the most a function costs that is charged by its callers
	weightLocals = 32
	weightValues = 128
)

func (m *module) readCode(r *reader) {
	n := r.count()
	if n != len(m.functions) {
		r.malformed("as many bodies as functions are needed")
		return
	}
	var open []int32
	for i, f := range m.functions {
		body := &reader{data: r.take(r.count())}
		if r.err != nil {
			return
		}
		m.readLocals(body, f)
		open = m.survey(body, f, open[:0])
		if body.err != nil {
			r.fail(fmt.Errorf("function %d: %w", len(m.imports)+i, body.err))
			return
		}
	}
}

func (m *module) readLocals(r *reader, f *function) {
	total := uint64(len(m.types[f.typ].params))
	f.nGroups = uint32(r.count())
	start := r.at
	for i := uint32(0); i < f.nGroups && r.err == nil; i++ {
		total += uint64(r.u32())
		r.valueType()
	}
	if total > maxLocals {
		r.fail(fmt.Errorf("function of %d locals: %w", total, ErrUnsupported))
	}
	if r.err == nil {
		f.groups, f.locals, f.code = r.data[start:r.at], uint32(total), r.data[r.at:]
	}
}

// survey reads a body once. open is room for the regions of the blocks that are open; it is returned for reuse.
func (m *module) survey(r *reader, f *function, open []int32) []int32 {
	f.costs = append(f.costs, 1)
	open = append(open, 0)
	for r.err == nil && len(open) > 0 {
		in := r.instruction()
		if r.err == nil {
			m.check(r, f, in, len(open))
		}
		here := open[len(open)-1]
		switch in.code {
		case opEnd:
			open = open[:len(open)-1]
		case opBlock, opIf:
			open = append(open, here)
		case opLoop:
			f.costs = append(f.costs, 0)
			here = int32(len(f.costs) - 1)
			open = append(open, here)
		}
		f.note(in, here)
	}
	if r.err == nil && r.more() {
		r.malformed("code after the end of a function")
	}
	return open
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
	case opBlock, opElse, opEnd:
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

// settle decides what the first reading left open: who is spared, what regions cost, which helpers are needed.
func (m *module) settle(size int) error {
	if m.options.Snapshot && m.uses.drop && m.uses.init {
		return fmt.Errorf("data.drop beside memory.init: %w", ErrNotRestorable)
	}
	if !m.present[sectionCode] && len(m.functions) > 0 {
		return fmt.Errorf("%w: functions without code", ErrMalformed)
	}
	params := 0
	for _, f := range m.imports {
		params += len(m.types[f.typ].params)
	}
	if params > size {
		return fmt.Errorf("%d parameters of imported functions: %w", params, ErrTooLarge)
	}
	for _, f := range m.functions {
		f.spared = len(f.costs) == 1 && len(f.calls) == 0 && !f.ticks && f.costs[0] <= sparedCost
	}
	for _, f := range m.functions {
		m.settleFunction(f)
	}
	m.placeHelpers()
	return nil
}

func (m *module) settleFunction(f *function) {
	f.counted = f.indirect
	for _, call := range f.calls {
		switch own := int(call.callee) - len(m.imports); {
		case own < 0:
		case m.functions[own].spared:
			f.costs[call.region] += m.functions[own].costs[0]
		default:
			f.counted = true
		}
	}
}

// spares says whether a direct call of a function leaves the fuel as it is.
func (m *module) spares(index uint32) bool {
	own := int(index) - len(m.imports)
	return own >= 0 && m.functions[own].spared
}

// loops says whether a function has loops. It keeps the fuel in a local then.
func (f *function) loops() bool { return len(f.costs) > 1 }

// weight is what a call of a function takes from the depth that is left.
func (f *function) weight() int64 {
	return int64(1 + uint64(f.locals)/weightLocals + f.values/weightValues)
}
