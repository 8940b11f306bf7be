package wasm

import (
	"bytes"
	"errors"
)

// image is the state of an instance that was started and warmed up: all that a snapshot restores. It does not change,
// and serves all instances of a plugin.
type image struct {
	memory  []byte
	empty   []bool // by block: it holds zeros only
	globals []uint64
}

// quickImage is how large an image may be for its restoring to take less time than waking somebody else to do it.
const quickImage = 256 << 10

// blockSize is how much memory is compared at a time. A call dirties few blocks, and reading is cheaper than writing.
const blockSize = 4096

var errGrew = errors.New("memory grew beyond the snapshot")

func zeros() []byte { return make([]byte, blockSize) }

// picture copies the state of an instance.
func (i *instance) picture() *image {
	i.fuel.Set(0)
	m := &image{memory: bytes.Clone(i.view())}
	zero := zeros()
	for at := 0; at < len(m.memory); at += blockSize {
		m.empty = append(m.empty, bytes.Equal(m.memory[at:at+blockSize], zero))
	}
	for _, global := range i.globals {
		m.globals = append(m.globals, global.Get())
	}
	return m
}

// view returns the guest's memory as it is, until the guest runs again.
func (i *instance) view() []byte { return i.memory.whole[:i.module.Memory().Size()] }

// restore makes a started instance what the image shows. It fails when the instance cannot become that any more.
func (m *image) restore(i *instance) error {
	view := i.view()
	if len(view) != len(m.memory) {
		return errGrew
	}
	zero := zeros()
	for n, empty := range m.empty {
		at := n * blockSize
		block, want := view[at:at+blockSize], zero
		if !empty {
			want = m.memory[at : at+blockSize]
		}
		if !bytes.Equal(block, want) {
			copy(block, want)
		}
	}
	for n, global := range i.globals {
		if global.Get() != m.globals[n] {
			global.Set(m.globals[n])
		}
	}
	return nil
}

// growTo gives the guest the memory that the image has.
func (i *instance) growTo(size int) error {
	more := size - int(i.module.Memory().Size())
	if more <= 0 {
		return nil
	}
	if _, ok := i.module.Memory().Grow(uint32(more / pageSize)); !ok {
		return errors.New("no memory for the snapshot")
	}
	return nil
}
