package meter

import "fmt"

// function is what the first reading of a body tells the second.
type function struct {
	typ      uint32
	groups   []byte // declarations of locals as they stand in the module, without their number
	nGroups  uint32
	code     []byte   // instructions
	regions  []region // in the order of their beginnings
	calls    []callSite
	values   uint64 // that may need room in the frame
	locals   uint32 // parameters included
	indirect bool   // calls through a table
	looping  bool   // has loops, and keeps the fuel in a local there
	ticks    bool   // changes the fuel otherwise than by a direct call
	spared   bool   // charged by its callers
	counted  bool   // may be active more than once
	moving   bool   // has memory.fill or memory.copy, whose operands are kept in locals
}

// region is a piece of code that is charged where it begins.
type region struct {
	at   int // offset in the code of a function
	cost uint64
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
	var open []frame
	for i, f := range m.functions {
		body := &reader{data: r.take(r.count())}
		if r.err != nil {
			return
		}
		m.readLocals(body, f)
		if body.err == nil {
			body = &reader{data: f.code}
			open = m.survey(body, f, open[:0])
		}
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

// settle decides what the first reading left open: who is spared, what regions cost, which helpers are needed.
func (m *module) settle() error {
	if m.uses.drop && m.uses.init {
		m.lasts("data.drop beside memory.init")
	}
	if !m.present[sectionCode] && len(m.functions) > 0 {
		return fmt.Errorf("%w: functions without code", ErrMalformed)
	}
	params := 0
	for _, f := range m.imports {
		params += len(m.types[f.typ].params)
	}
	if params > m.size {
		return fmt.Errorf("%d parameters of imported functions: %w", params, ErrTooLarge)
	}
	for _, f := range m.functions {
		f.spared = len(f.regions) == 1 && len(f.calls) == 0 && !f.ticks && f.regions[0].cost <= sparedCost
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
			f.regions[call.region].cost += m.functions[own].regions[0].cost
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

// weight is what a call of a function takes from the depth that is left. wazero gives every value that it cannot keep in a
// register a place of its own in the frame.
func (f *function) weight() int64 {
	return int64(1 + uint64(f.locals)/weightLocals + f.values/weightValues)
}
