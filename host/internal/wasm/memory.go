package wasm

import "github.com/tetratelabs/wazero/experimental"

// memoryBudget gives one instance its linear memory and refuses to let it grow past a limit. One goroutine uses it.
type memoryBudget struct {
	limit   uint64 // bytes
	buffer  []byte
	refused bool // the guest wanted more than it may have
}

func newMemoryBudget(pages uint32) *memoryBudget {
	return &memoryBudget{limit: uint64(pages) * pageSize}
}

// Allocate implements experimental.MemoryAllocator. checkMemory has made sure that the minimum fits.
func (m *memoryBudget) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements experimental.LinearMemory. A refusal shows as -1 in the guest.
func (m *memoryBudget) Reallocate(size uint64) []byte {
	if size > m.limit {
		m.refused = true
		return nil
	}
	if size <= uint64(cap(m.buffer)) {
		m.buffer = m.buffer[:size]
		return m.buffer
	}
	grown := make([]byte, size, min(size+size/4, m.limit))
	copy(grown, m.buffer)
	m.buffer = grown
	return m.buffer
}

// Free implements experimental.LinearMemory.
func (m *memoryBudget) Free() { m.buffer = nil }
