package meter_test

import "encoding/binary"

// draft is a module while a test puts it together. Every field holds the items of one section.
type draft struct {
	types, imports, functions, tables, memories, globals, exports, elements, codes, data [][]byte

	start   []byte
	customs [][]byte // contents, names included
}

const (
	i32, i64, f64, v128, funcref, externref = 0x7f, 0x7e, 0x7c, 0x7b, 0x70, 0x6f
)

// bytes gives the module.
func (d draft) bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, content []byte) {
		out = append(out, id)
		out = append(out, sized(content)...)
	}
	vector := func(id byte, items [][]byte) {
		if items != nil {
			section(id, list(items...))
		}
	}
	vector(1, d.types)
	vector(2, d.imports)
	vector(3, d.functions)
	vector(4, d.tables)
	vector(5, d.memories)
	vector(6, d.globals)
	vector(7, d.exports)
	if d.start != nil {
		section(8, d.start)
	}
	vector(9, d.elements)
	if d.data != nil {
		section(12, number(len(d.data)))
	}
	vector(10, d.codes)
	vector(11, d.data)
	for _, custom := range d.customs {
		section(0, custom)
	}
	return out
}

// function is a module with one exported function named run. Its body is given as instructions, the last end excluded.
func function(params, results []byte, locals [][]byte, body ...byte) draft {
	return draft{
		types:     [][]byte{signature(params, results)},
		functions: [][]byte{{0}},
		exports:   [][]byte{export("run", 0, 0)},
		codes:     [][]byte{code(locals, body...)},
	}
}

func code(locals [][]byte, body ...byte) []byte {
	return sized(append(join(list(locals...), body), 0x0b))
}

func signature(params, results []byte) []byte {
	return join([]byte{0x60}, sized(params), sized(results))
}

func export(name string, kind byte, index int) []byte {
	return join(sized([]byte(name)), []byte{kind}, number(index))
}

func custom(name string, content ...byte) []byte { return join(sized([]byte(name)), content) }

func number(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func sized(content []byte) []byte { return join(number(len(content)), content) }

func list(items ...[]byte) []byte { return join(append([][]byte{number(len(items))}, items...)...) }

func join(parts ...[]byte) []byte {
	var out []byte
	for _, part := range parts {
		out = append(out, part...)
	}
	return out
}
