package meter

import "fmt"

// reader reads bytes from front to back. The first problem sticks; afterwards every read gives zero values.
type reader struct {
	data []byte
	at   int
	err  error
}

func (r *reader) more() bool { return r.at < len(r.data) }

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.at = len(r.data)
}

func (r *reader) malformed(what string) { r.fail(fmt.Errorf("%w: %s", ErrMalformed, what)) }

func (r *reader) byte() byte {
	if r.at >= len(r.data) {
		r.malformed("cut short")
		return 0
	}
	b := r.data[r.at]
	r.at++
	return b
}

// u32 reads an unsigned LEB128 number of 32 bits.
func (r *reader) u32() uint32 {
	var value uint64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		value |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if value > 1<<32-1 {
				break
			}
			return uint32(value)
		}
	}
	r.malformed("number too large")
	return 0
}

// skipSigned passes a signed LEB128 number of at most so many bytes. The engine checks its last bits.
func (r *reader) skipSigned(bytes int) {
	for range bytes {
		if r.byte() < 0x80 {
			return
		}
	}
	r.malformed("number too large")
}

// count reads a vector's length. An element takes at least one byte, so a longer vector is a lie.
func (r *reader) count() int {
	n := r.u32()
	if uint64(n) > uint64(len(r.data)-r.at) {
		r.malformed("vector longer than its section")
		return 0
	}
	return int(n)
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.data)-r.at {
		r.malformed("cut short")
		return nil
	}
	b := r.data[r.at : r.at+n : r.at+n]
	r.at += n
	return b
}

func (r *reader) name() string { return string(r.take(r.count())) }

// zero reads a byte that names the one memory there can be.
func (r *reader) zero() {
	if r.byte() != 0 {
		r.fail(fmt.Errorf("several memories: %w", ErrUnsupported))
	}
}

// done reports the first problem, or that something is left over.
func (r *reader) done() error {
	if r.err == nil && r.more() {
		r.malformed("section longer than its content")
	}
	return r.err
}
