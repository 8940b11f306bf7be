package meter

import "fmt"

// Instructions that the meter looks at, by their codes. Prefixed ones carry the prefix in the high byte.
const (
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opSelect       = 0x1b
	opSelectTyped  = 0x1c
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableGet     = 0x25
	opTableSet     = 0x26
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2
	opBulk         = 0xfc // prefix
	opVector       = 0xfd // prefix
	opMemoryInit   = 0xfc08
	opDataDrop     = 0xfc09
	opMemoryCopy   = 0xfc0a
	opMemoryFill   = 0xfc0b
	opTableInit    = 0xfc0c
	opElemDrop     = 0xfc0d
	opTableCopy    = 0xfc0e
	opTableGrow    = 0xfc0f
	opTableSize    = 0xfc10
	opTableFill    = 0xfc11
)

// instruction is one instruction with the immediates that matter here.
type instruction struct {
	code  uint16
	index uint32 // function, global, local, type of a block or indirect call; the farthest label of a branch
}

// noType is the index of a block type that names no type.
const noType = 1<<32 - 1

// instruction reads the next one. Codes beyond core version 2 are refused.
func (r *reader) instruction() instruction {
	op := r.byte()
	in := instruction{code: uint16(op)}
	switch {
	case op <= 0x01, op == opElse, op == opEnd, op == opReturn, op == opDrop, op == opSelect,
		op >= 0x45 && op <= 0xc4, op == opRefIsNull:
	case op >= opBlock && op <= opIf:
		in.index = r.blockType()
	case op == opBr, op == opBrIf, op == opCall, op >= opLocalGet && op <= opTableSet, op == opRefFunc:
		in.index = r.u32()
	case op == opBrTable:
		for range r.count() + 1 {
			in.index = max(in.index, r.u32())
		}
	case op == opCallIndirect:
		in.index = r.u32()
		r.u32()
	case op == opSelectTyped:
		if r.u32() != 1 {
			r.malformed("select with other than one type")
		}
		r.valueType()
	case op >= 0x28 && op <= 0x3e:
		r.memoryArgument()
	case op == opMemorySize, op == opMemoryGrow:
		r.zero()
	default:
		r.rareInstruction(&in)
	}
	return in
}

func (r *reader) rareInstruction(in *instruction) {
	switch in.code {
	case opI32Const:
		r.skipSigned(5)
	case opI64Const:
		r.skipSigned(10)
	case opF32Const:
		r.take(4)
	case opF64Const:
		r.take(8)
	case opRefNull:
		r.referenceType()
	case opBulk:
		in.code = opBulk<<8 | uint16(min(r.u32(), 0xff))
		r.bulkImmediates(in)
	case opVector:
		in.code = opVector<<8 | uint16(r.vectorCode())
		r.vectorImmediates(byte(in.code))
	default:
		r.fail(fmt.Errorf("instruction %#x: %w", in.code, ErrUnsupported))
	}
}

func (r *reader) bulkImmediates(in *instruction) {
	switch in.code {
	case opMemoryInit:
		r.u32()
		r.zero()
	case opMemoryCopy:
		r.zero()
		r.zero()
	case opMemoryFill:
		r.zero()
	case opTableInit, opTableCopy:
		r.u32()
		r.u32()
	case opDataDrop, opElemDrop, opTableGrow, opTableSize, opTableFill:
		r.u32()
	default:
		if in.code > opBulk<<8|7 { // the saturating conversions have no immediates
			r.fail(fmt.Errorf("instruction %#x: %w", in.code, ErrUnsupported))
		}
	}
}

// vectorCode reads the second code of a vector instruction. Only its shortest form is accepted: engines differ about
// the others.
func (r *reader) vectorCode() byte {
	code := r.byte()
	if code >= 0x80 && r.byte() != 0x01 {
		r.fail(fmt.Errorf("vector instruction %#x: %w", code, ErrUnsupported))
	}
	return code
}

func (r *reader) vectorImmediates(code byte) {
	switch {
	case code <= 0x0b, code == 0x5c, code == 0x5d: // loads and stores
		r.memoryArgument()
	case code == 0x0c, code == 0x0d: // v128.const, i8x16.shuffle
		r.take(16)
	case code >= 0x15 && code <= 0x22: // lanes
		r.byte()
	case code >= 0x54 && code <= 0x5b: // loads and stores of one lane
		r.memoryArgument()
		r.byte()
	}
}

func (r *reader) memoryArgument() {
	if r.u32() > 31 {
		r.fail(fmt.Errorf("alignment above 2^31: %w", ErrUnsupported))
	}
	r.u32()
}

// blockType reads what a block takes and gives: the index of a type, or noType for nothing or one result.
func (r *reader) blockType() uint32 {
	if !r.more() {
		r.malformed("cut short")
		return noType
	}
	switch b := r.data[r.at]; {
	case b == 0x40 || isValueType(b):
		r.at++
		return noType
	case b&0xc0 == 0x40: // negative: none of the above
		r.fail(fmt.Errorf("block type %#x: %w", b, ErrUnsupported))
		return noType
	}
	start := r.at
	index := r.u32()
	if last := r.data[max(r.at-1, start)]; r.err == nil && r.at-start < 5 && last&0x40 != 0 {
		r.malformed("negative block type")
	}
	return index
}

func isValueType(b byte) bool {
	return b >= 0x7b && b <= 0x7f || isReferenceType(b)
}

func isReferenceType(b byte) bool { return b == 0x70 || b == 0x6f }

func (r *reader) valueType() byte {
	b := r.byte()
	if r.err == nil && !isValueType(b) {
		r.fail(fmt.Errorf("value type %#x: %w", b, ErrUnsupported))
	}
	return b
}

func (r *reader) referenceType() byte {
	b := r.byte()
	if r.err == nil && !isReferenceType(b) {
		r.fail(fmt.Errorf("reference type %#x: %w", b, ErrUnsupported))
	}
	return b
}
