package meter

import "encoding/binary"

func appendU32(out []byte, value uint32) []byte { return binary.AppendUvarint(out, uint64(value)) }

func appendSigned(out []byte, value int64) []byte {
	for {
		b := byte(value & 0x7f)
		value >>= 7
		if (value == 0 && b&0x40 == 0) || (value == -1 && b&0x40 != 0) {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

// appendSized appends bytes with their number before them: a name, a section's content, a function's body.
func appendSized[T string | []byte](out []byte, content T) []byte {
	return append(appendU32(out, uint32(len(content))), content...)
}

// appendIndexed appends an instruction with one index.
func appendIndexed(out []byte, op byte, index uint32) []byte {
	return appendU32(append(out, op), index)
}
