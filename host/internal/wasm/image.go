package wasm

import (
	"bytes"
	"errors"

	"github.com/fastreact/fastreact/host/internal/wasm/snapshot"
)

// image is the state of an instance that was started and warmed up: all that a snapshot restores. It does not change,
// and serves all instances of a plugin, which closes it last.
type image struct {
	memory  *snapshot.Memory
	globals []uint64
	room    room
}

var errGrew = errors.New("memory grew beyond the snapshot")

// state is a copy of what an instance was at one moment.
type state struct {
	memory  []byte
	globals []uint64
	room    room
}

// state copies what an instance is.
func (i *instance) state() state {
	i.fuel.Set(0)
	s := state{memory: bytes.Clone(i.view()), room: i.room}
	for _, global := range i.globals {
		s.globals = append(s.globals, global.Get())
	}
	return s
}

// picture makes an image of a state, which must not change any more.
func (s state) picture() *image {
	return &image{memory: snapshot.Take(s.memory), globals: s.globals, room: s.room}
}

// view returns the guest's memory as it is, until the guest runs again.
func (i *instance) view() []byte { return i.memory.whole[:i.module.Memory().Size()] }

// lay makes an instance that is new what the image shows.
func (m *image) lay(i *instance) error {
	if err := i.growTo(m.memory.Size()); err != nil {
		return err
	}
	m.recall(i)
	var err error
	i.layer, err = m.memory.Lay(i.view())
	return err
}

// restore makes an instance that the image was laid over what it shows. It fails when the instance cannot become that
// any more.
func (m *image) restore(i *instance) error {
	if len(i.view()) != m.memory.Size() {
		return errGrew
	}
	i.layer.Restore()
	m.recall(i)
	return nil
}

// recall restores what lies outside of the memory.
func (m *image) recall(i *instance) {
	i.room = m.room
	for n, global := range i.globals {
		if global.Get() != m.globals[n] {
			global.Set(m.globals[n])
		}
	}
}

// close frees the image.
func (m *image) close() {
	if m != nil {
		m.memory.Close()
	}
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
