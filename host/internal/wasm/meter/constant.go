package meter

import "fmt"

// constant copies a constant expression to out; references to functions are shifted.
func (m *module) constant(r *reader, out []byte) []byte {
	for r.err == nil {
		start := r.at
		op := r.byte()
		switch op {
		case opEnd:
			return append(out, op)
		case opI32Const:
			r.skipSigned(5)
		case opI64Const:
			r.skipSigned(10)
		case opF32Const:
			r.take(4)
		case opF64Const:
			r.take(8)
		case opGlobalGet:
			m.knownGlobal(r, r.u32())
		case opRefNull:
			r.referenceType()
		case opRefFunc:
			out = appendIndexed(out, op, m.functionIndex(r))
			continue
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // add, sub and mul of i32 and i64
		case opVector:
			if r.byte() != 0x0c {
				r.malformed("vector instruction in a constant")
			}
			r.take(16)
		default:
			r.fail(fmt.Errorf("instruction %#x in a constant: %w", op, ErrUnsupported))
		}
		if r.err == nil {
			out = append(out, r.data[start:r.at]...)
		}
	}
	return out
}

// knownGlobal refuses an index that would meet the meter's own globals.
func (m *module) knownGlobal(r *reader, index uint32) {
	if r.err == nil && uint64(index) >= uint64(len(m.globals)) {
		r.malformed("unknown global")
	}
}

// functionIndex reads the index of a function and gives its new one.
func (m *module) functionIndex(r *reader) uint32 {
	index := r.u32()
	if r.err == nil && index >= m.all() {
		r.malformed("unknown function")
	}
	if r.err != nil {
		return 0
	}
	return m.shifted(index)
}
