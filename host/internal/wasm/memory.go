package wasm

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// linearMemory is the memory of one instance: mapped outside Go's heap, reserved up to its limit, so that growing
// copies nothing. What the guest was given is accounted with the host's budget. One goroutine uses it, and its owner
// releases it when nothing runs in the instance any more, whatever the sandbox thinks.
type linearMemory struct {
	whole   []byte // reserved
	size    int64  // bytes that the guest has, and that are accounted
	budget  *memoryBudget
	refused string // why the guest got no more: empty when it was refused nothing
}

// What stands in the way of more memory.
const (
	refusedByLimit  = "the plugin's memory_pages"
	refusedByBudget = "the host's plugins.limits.memory_bytes"
)

// reserveMemory maps a memory of at most so many bytes. The first of them, initial, were taken from the budget already.
func reserveMemory(limit, initial int64, budget *memoryBudget) (*linearMemory, error) {
	whole, err := syscall.Mmap(-1, 0, int(limit), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		budget.give(initial)
		return nil, fmt.Errorf("reserve %d bytes of memory: %w", limit, err)
	}
	budget.mapped.Add(1)
	return &linearMemory{whole: whole, size: initial, budget: budget}, nil
}

// Allocate implements experimental.MemoryAllocator.
func (m *linearMemory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements experimental.LinearMemory. A refusal shows as -1 in the guest.
func (m *linearMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.whole)) {
		m.refused = refusedByLimit
		return nil
	}
	if more := int64(size) - m.size; more > 0 {
		if !m.budget.take(more) {
			m.refused = refusedByBudget
			return nil
		}
		m.size = int64(size)
	}
	return m.whole[:size]
}

// Free implements experimental.LinearMemory. The sandbox calls it when the guest exits, which is in the midst of a
// call; the owner releases the memory afterwards.
func (m *linearMemory) Free() {}

// release unmaps the memory and gives it back to the budget. It may be called again.
func (m *linearMemory) release() {
	if m.whole == nil {
		return
	}
	_ = syscall.Munmap(m.whole) // fails only for what is no mapping
	m.whole = nil
	m.budget.give(m.size)
	m.budget.mapped.Add(-1)
}

// mappings counts memories that are mapped, for the tests that look for leaks.
type mappings struct{ atomic.Int64 }
