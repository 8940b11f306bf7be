package wasm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// reader reads one section of a module. The first problem sticks; afterwards every read gives zero values.
type reader struct {
	rest []byte
	err  error
}

var errShort = errors.New("module is cut short")

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.rest = nil
}

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.fail(errShort)
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// number reads an unsigned LEB128 of at most max.
func (r *reader) number(max uint64) uint64 {
	value, used := binary.Uvarint(r.rest)
	if used <= 0 || value > max {
		r.fail(fmt.Errorf("a number in the module is cut short or too large"))
		return 0
	}
	r.rest = r.rest[used:]
	return value
}

func (r *reader) u32() uint32 { return uint32(r.number(1<<32 - 1)) }

// count reads a vector's length. An element takes at least one byte, so a longer vector is a lie.
func (r *reader) count() int { return int(r.number(uint64(len(r.rest)))) }

// maxItems bounds the types, imports, functions and exports of a module, each of which the host remembers.
const maxItems = 100_000

// items reads the length of a vector of such items.
func (r *reader) items() int {
	n := r.count()
	if n > maxItems {
		r.fail(fmt.Errorf("%d items where %d are allowed", n, maxItems))
		return 0
	}
	return n
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.rest)) {
		r.fail(errShort)
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) name() string { return string(r.bytes(r.u32())) }

// limits reads minimum and maximum; has reports whether there is a maximum.
func (r *reader) limits() (low, high uint64, has bool) {
	flags := r.byte()
	if flags > 1 {
		r.fail(fmt.Errorf("shared or 64-bit memories and tables are not supported (flags %#x)", flags))
		return 0, 0, false
	}
	low = uint64(r.u32())
	if flags == 1 {
		return low, uint64(r.u32()), true
	}
	return low, 0, false
}

type section struct {
	id   byte
	body []byte
}

// sections splits a core module. It copies nothing.
func sections(module []byte) ([]section, error) {
	if !bytes.HasPrefix(module, []byte("\x00asm")) {
		return nil, errors.New("not a WebAssembly module; make one with `fastreact plugin build DIR`")
	}
	if !bytes.HasPrefix(module[4:], []byte("\x01\x00\x00\x00")) {
		return nil, errors.New("not a core WebAssembly module, version 1: components are not supported")
	}
	var found []section
	for r := (&reader{rest: module[8:]}); len(r.rest) > 0; {
		id := r.byte()
		body := r.bytes(r.u32())
		if r.err != nil {
			return nil, r.err
		}
		found = append(found, section{id, body})
	}
	return found, nil
}
