package snapshot

import (
	"bytes"
	"errors"
)

// Memory is the picture of a linear memory. It does not change and may be used from many goroutines. Its owner closes
// it when no memory is restored by it any more.
type Memory struct {
	bytes []byte
	empty []bool // by block: it holds zeros only
	file  *file  // nil where the system cannot share it: then all is copied and compared
}

const (
	// blockSize is how much memory is compared at a time. A call dirties few blocks, and reading is cheaper than writing.
	blockSize = 4096
	// pieceSize is how much of a block is written at a time.
	pieceSize = 512
	// smallSize is up to where comparing everything takes less time than asking the system what was written to.
	smallSize = 256 << 10
)

var errSize = errors.New("a snapshot is laid over memory of another size")

func zeros() []byte { return make([]byte, blockSize) }

// Take makes a picture of a memory, whose size is a multiple of 64 KiB and which must not change any more: where the
// system cannot hold the picture, it is this very memory.
func Take(memory []byte) *Memory {
	m := &Memory{}
	zero := zeros()
	for at := 0; at < len(memory); at += blockSize {
		m.empty = append(m.empty, bytes.Equal(memory[at:at+blockSize], zero))
	}
	if len(memory) > smallSize {
		m.file = openFile(memory, m.empty)
	}
	if m.file != nil {
		m.bytes = m.file.shown
		return m
	}
	m.bytes = memory
	return m
}

// Size is how many bytes it shows.
func (m *Memory) Size() int { return len(m.bytes) }

// Quick reports whether restoring takes less time than waking somebody else to do it.
func (m *Memory) Quick() bool { return m.file != nil || len(m.bytes) <= smallSize }

// Close frees the picture. Memories that it was laid over stay as they are.
func (m *Memory) Close() {
	if m.file != nil {
		m.file.close()
	}
}

// Layer is a memory that a picture was laid over. One goroutine uses it at a time.
type Layer struct {
	of      *Memory
	memory  []byte
	faults  int64  // of this process when written was true
	written []span // what is not shared with the picture any more; nil before it was asked for
}

// span is a part of a memory.
type span struct{ from, to int }

// Lay makes a memory what the picture shows. It is mapped from the system and has the picture's size. Pages that are
// never written to stay shared with the picture, where the system can do that.
func (m *Memory) Lay(over []byte) (*Layer, error) {
	if len(over) != len(m.bytes) {
		return nil, errSize
	}
	l := &Layer{of: m, memory: over}
	if m.file != nil {
		return l, m.file.lay(over)
	}
	m.compare(over, span{0, len(over)})
	return l, nil
}

// Restore makes the memory again what the picture shows.
func (l *Layer) Restore() {
	for _, part := range l.changed() {
		l.of.compare(l.memory, part)
	}
}

// changed returns the parts that may differ from the picture. A page leaves what is shared when it is written to for the
// first time, with a fault that the system counts: as long as there was none, the parts are those of the last time.
func (l *Layer) changed() []span {
	all := []span{{0, len(l.memory)}}
	if l.of.file == nil {
		return all
	}
	now, counted := faults()
	if counted && now == l.faults && l.written != nil {
		return l.written
	}
	written, told := l.of.file.written(l.memory, l.written[:0])
	if !told {
		l.written = nil
		return all
	}
	l.faults, l.written = now, written
	return written
}

// compare restores the blocks of a part.
func (m *Memory) compare(over []byte, part span) {
	zero := zeros()
	for at := part.from; at < part.to; at += blockSize {
		block, want := over[at:at+blockSize], zero
		if !m.empty[at/blockSize] {
			want = m.bytes[at : at+blockSize]
		}
		if !bytes.Equal(block, want) {
			mend(block, want)
		}
	}
}

// mend writes what differs.
func mend(block, want []byte) {
	for at := 0; at < blockSize; at += pieceSize {
		piece, want := block[at:at+pieceSize], want[at:at+pieceSize]
		if !bytes.Equal(piece, want) {
			copy(piece, want)
		}
	}
}
