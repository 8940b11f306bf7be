package wasm

import (
	"encoding/binary"
	"slices"

	"github.com/fastreact/fastreact/host/internal/run"
)

const (
	firstBlock = 64 // no block begins at 0, which means none
	blockCost  = 64 // bytes that a block is charged beside its content, so that empty-handed guests end too
)

// arena holds the blocks of memory that one call of an Extism guest shares with the host. An offset belongs to one
// block for the whole call, even after it was freed, so that a guest that keeps one cannot reach somebody else's bytes.
// Whatever a guest does wrong ends it with a *Failure. One goroutine uses it.
type arena struct {
	limit  int           // bytes that may live at once
	used   int           // bytes that live, with what each block costs
	budget *memoryBudget // of the host, which accounts for all plugins together; nil accounts for nothing
	taken  int           // bytes that were taken from it
	next   uint64        // offset of the next block
	blocks []block       // by offset
	recent int           // index of the block that was found last: guests read and write in order
}

type block struct {
	at    uint64
	bytes []byte
	spent bool // the host has read it for the last time; it goes when room is needed
}

const budgetStep = 64 << 10 // bytes that are taken from the host's budget at a time, at least

func newArena(limit int, budget *memoryBudget) arena {
	return arena{limit: limit, next: firstBlock, budget: budget}
}

// alloc makes a block of zeroes. No block holds zero bytes: its offset is 0.
func (a *arena) alloc(size uint64) uint64 {
	if size == 0 {
		return 0
	}
	a.reserve(size)
	at := a.next
	a.blocks = append(a.blocks, block{at: at, bytes: make([]byte, size)})
	a.used += int(size) + blockCost
	a.next += (size+7)&^7 + 8 // a gap: no two blocks touch
	return at
}

// reserve makes sure that size bytes fit, or ends the guest.
func (a *arena) reserve(size uint64) {
	if !a.fits(size) {
		a.sweep()
	}
	if !a.fits(size) {
		panic(fail(run.PluginOutOfMemory, "what the plugin shares with the host reached its limit of %d bytes", a.limit))
	}
	if !a.afford(size) {
		panic(fail(run.PluginOutOfMemory, "all plugins together have the memory that the host may give"))
	}
}

// afford takes from the host's budget what a block of a size needs.
func (a *arena) afford(size uint64) bool {
	more := a.used + int(size) + blockCost - a.taken
	if a.budget == nil || more <= 0 {
		return true
	}
	more = max(more, budgetStep)
	if !a.budget.take(int64(more)) {
		return false
	}
	a.taken += more
	return true
}

// release gives the budget back. Blocks stay readable for who holds them.
func (a *arena) release() {
	if a.budget != nil {
		a.budget.give(int64(a.taken))
	}
	a.taken, a.budget = 0, nil
}

func (a *arena) fits(size uint64) bool {
	room := a.limit - a.used - blockCost
	return room >= 0 && size <= uint64(room)
}

// put makes a block that holds a copy of text.
func (a *arena) put(text []byte) uint64 {
	at := a.alloc(uint64(len(text)))
	if at != 0 {
		copy(a.blocks[len(a.blocks)-1].bytes, text)
	}
	return at
}

// free forgets the block that begins at an offset. Anything else is nothing: PDKs free what the host has freed already.
func (a *arena) free(at uint64) {
	if i, there := a.search(at); there {
		a.used -= len(a.blocks[i].bytes) + blockCost
		a.blocks = slices.Delete(a.blocks, i, i+1)
	}
}

// spend marks a block that the Extism contract hands over to the host, which may free it. It stays readable as long
// as there is room.
func (a *arena) spend(at uint64) {
	if i, there := a.search(at); there {
		a.blocks[i].spent = true
	}
}

func (a *arena) sweep() {
	a.blocks = slices.DeleteFunc(a.blocks, func(b block) bool {
		if b.spent {
			a.used -= len(b.bytes) + blockCost
		}
		return b.spent
	})
}

// length is the size of the block that begins at an offset, 0 when none does.
func (a *arena) length(at uint64) uint64 {
	if i, there := a.search(at); there {
		return uint64(len(a.blocks[i].bytes))
	}
	return 0
}

// whole returns the block that begins at an offset; offset 0 is no bytes.
func (a *arena) whole(at uint64) []byte {
	if at == 0 {
		return nil
	}
	i, there := a.search(at)
	if !there {
		panic(fail(run.PluginTrapped, "no shared block begins at offset %d", at))
	}
	return a.blocks[i].bytes
}

// span returns size bytes at an offset, all of one block.
func (a *arena) span(at, size uint64) []byte {
	i, there := a.search(at)
	if !there {
		i-- // the block that begins before
	}
	if i >= 0 {
		b := a.blocks[i]
		if skip, length := at-b.at, uint64(len(b.bytes)); skip <= length && size <= length-skip {
			return b.bytes[skip : skip+size]
		}
	}
	panic(fail(run.PluginTrapped, "%d bytes at offset %d lie in no shared block", size, at))
}

// search finds the index of the block that begins at an offset, or where one would stand.
func (a *arena) search(at uint64) (int, bool) {
	if i := a.recent; i < len(a.blocks) && a.blocks[i].at <= at && (i+1 == len(a.blocks) || at < a.blocks[i+1].at) {
		if a.blocks[i].at == at {
			return i, true
		}
		return i + 1, false
	}
	i, there := slices.BinarySearchFunc(a.blocks, at, func(b block, at uint64) int {
		switch {
		case b.at < at:
			return -1
		case b.at > at:
			return 1
		}
		return 0
	})
	a.recent = i
	if !there && i > 0 {
		a.recent = i - 1
	}
	return i, there
}

// word reads up to eight bytes as one little-endian number.
func word(bytes []byte) uint64 {
	if len(bytes) == 8 {
		return binary.LittleEndian.Uint64(bytes)
	}
	return uint64(bytes[0])
}

// setWord writes a number over one or eight bytes.
func setWord(bytes []byte, value uint64) {
	if len(bytes) == 8 {
		binary.LittleEndian.PutUint64(bytes, value)
		return
	}
	bytes[0] = byte(value)
}
