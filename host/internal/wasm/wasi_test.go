package wasm

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"github.com/fastreact/fastreact/sdk"
)

// desk is a started tool whose memory tests write to, and a function that says what it was asked.
type desk struct {
	guest  api.Module
	visit  *visit
	ctx    context.Context
	asked  [][]uint64
	answer uint64
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	plugin := load(t, newHost(t, Config{}), Module{
		Bytes: wat(t, "hostile/random-flood"), Limits: sdk.Limits{MemoryPages: 100},
	})
	i := &instance{}
	t.Cleanup(i.close)
	v := plugin.visit(t.Context(), CallContext{})
	ctx := withVisit(t.Context(), v)
	if err := plugin.engine.start(ctx, i, toolWorld(ctx), v); err != nil {
		t.Fatal(err)
	}
	if _, ok := i.module.Memory().Grow(90); !ok {
		t.Fatal("no memory")
	}
	return &desk{guest: i.module, visit: v, ctx: ctx}
}

// ask calls a function under its guard and returns the error number.
func (d *desk) ask(guard wasiGuard, stack ...uint64) uint64 {
	serves := api.GoModuleFunc(func(_ context.Context, _ api.Module, stack []uint64) {
		d.asked = append(d.asked, append([]uint64(nil), stack...))
		stack[0] = d.answer
	})
	stack = append(stack, make([]uint64, 9)...)
	(&wasiFunction{serves, guard}).Call(d.ctx, d.guest, stack)
	return stack[0]
}

// vectors writes a table of parts at 1000.
func (d *desk) vectors(t *testing.T, sizes ...uint32) []byte {
	t.Helper()
	var table []byte
	for _, size := range sizes {
		table = binary.LittleEndian.AppendUint32(table, 4096)
		table = binary.LittleEndian.AppendUint32(table, size)
	}
	if !d.guest.Memory().Write(1000, table) {
		t.Fatal("out of bounds")
	}
	return table
}

func TestReadsAndWritesAreDoneInPieces(t *testing.T) {
	d := newDesk(t)
	table := d.vectors(t, 1000, pieceBytes, 5, 5)
	if errno := d.ask(vectored, 1, 1000, 4, 500); errno != 0 {
		t.Errorf("errno %d", errno)
	}
	if parts := d.asked[0][2]; parts != 2 {
		t.Errorf("%d parts were passed on", parts)
	}
	if after, _ := d.guest.Memory().Read(1000, uint32(len(table))); !bytes.Equal(after, table) {
		t.Error("the guest's table was changed")
	}
	d.asked = nil
	if errno := d.ask(inPieces, 65536, 5*pieceBytes/2); errno != 0 || len(d.asked) != 3 || d.asked[2][1] != pieceBytes/2 {
		t.Errorf("errno %d, asked %v", errno, d.asked)
	}
}

func TestRandomnessEndsWhenTheCallIsOver(t *testing.T) {
	d := newDesk(t)
	ctx, cancel := context.WithCancel(d.ctx)
	cancel()
	d.ctx = ctx
	if errno := d.ask(inPieces, 65536, 5*pieceBytes); errno != errnoInterrupted || len(d.asked) != 1 {
		t.Errorf("errno %d after %d pieces", errno, len(d.asked))
	}
}

func TestTooManyPartsAreRefused(t *testing.T) {
	d := newDesk(t)
	for _, errno := range []uint64{d.ask(vectored, 1, 1000, mostVectors+1, 0), d.ask(shortPoll, 0, 0, mostEvents+1)} {
		if errno != errnoInvalid || len(d.asked) > 0 {
			t.Errorf("errno %d, %d calls", errno, len(d.asked))
		}
	}
}

func TestTooLongNamesAreRefused(t *testing.T) {
	d := newDesk(t)
	for name, at := range map[string]int{"path_open": 3, "path_link": 6, "path_rename": 5, "path_symlink": 1, "path_unlink_file": 2} {
		stack := make([]uint64, 9)
		stack[at] = mostPathName + 1
		if errno := d.ask(wasiGuards()[name], stack...); errno != errnoNameTooLong || len(d.asked) > 0 {
			t.Errorf("%s: errno %d, %d calls", name, errno, len(d.asked))
		}
	}
}

func TestFilesOpenAtOnceAreBounded(t *testing.T) {
	d := newDesk(t)
	for range mostFiles {
		if errno := d.ask(opening); errno != 0 {
			t.Fatalf("errno %d", errno)
		}
	}
	if errno := d.ask(opening); errno != errnoTooManyOpen {
		t.Errorf("errno %d", errno)
	}
	d.ask(closing, 7)
	if errno := d.ask(opening); errno != 0 {
		t.Errorf("after one was closed: errno %d", errno)
	}
	if errno := d.ask(renumber, 7, 1<<30); errno != errnoBadFile {
		t.Errorf("a huge descriptor: errno %d", errno)
	}
}
