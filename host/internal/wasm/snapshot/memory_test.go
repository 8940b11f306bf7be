package snapshot

import (
	"bytes"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
)

// reserve maps a memory as guests have one.
func reserve(t *testing.T, size int) []byte {
	t.Helper()
	memory, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(memory) })
	return memory
}

// warmMemory has bytes in every third block.
func warmMemory(size int) []byte {
	memory := make([]byte, size)
	for at := 0; at < size; at += 3 * blockSize {
		memory[at], memory[at+blockSize-1] = byte(at>>12)|1, 7
	}
	return memory
}

// pictures are made in all ways that there are, of a memory of the given size.
func pictures(t *testing.T, size int) map[string]*Memory {
	t.Helper()
	whole := Take(warmMemory(size))
	compared := Take(warmMemory(size))
	if compared.file != nil {
		compared.bytes = bytes.Clone(compared.bytes)
		compared.file.close()
		compared.file = nil
	}
	t.Cleanup(whole.Close)
	return map[string]*Memory{"as the system can": whole, "compared": compared}
}

func lay(t *testing.T, m *Memory) *Layer {
	t.Helper()
	l, err := m.Lay(reserve(t, m.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestMemoryIsExactlyThePictureAfterAnyWrites(t *testing.T) {
	for _, size := range []int{64 << 10, 256 << 10, 320 << 10, 3 << 20} {
		for name, m := range pictures(t, size) {
			t.Run(name, func(t *testing.T) {
				t.Logf("%d bytes, shared: %v, quick: %v", size, m.file != nil, m.Quick())
				random := rand.New(rand.NewPCG(1, uint64(size)))
				want := warmMemory(size)
				layers := []*Layer{lay(t, m), lay(t, m)}
				for round := range 300 {
					l := layers[round%2]
					if !bytes.Equal(l.memory, want) {
						t.Fatalf("round %d begins with another memory", round)
					}
					for range random.IntN(20) {
						l.memory[random.IntN(size)] ^= byte(1 + random.IntN(255))
					}
					if random.IntN(10) == 0 {
						clear(l.memory[random.IntN(size):])
					}
					l.Restore()
					if !bytes.Equal(l.memory, want) {
						t.Fatalf("round %d is not restored", round)
					}
				}
			})
		}
	}
}

func TestAPageThatIsWrittenToForTheFirstTimeIsSeen(t *testing.T) {
	m := Take(warmMemory(4 << 20))
	defer m.Close()
	l := lay(t, m)
	for at := 0; at < m.Size(); at += blockSize {
		l.Restore() // nothing was written to since
		l.memory[at+17] = 99
		l.Restore()
		if l.memory[at+17] != 0 {
			t.Fatalf("what was written to at %d is still there", at)
		}
	}
}

func TestMemoryThatTheSystemTellsNothingOfIsComparedWhole(t *testing.T) {
	m := Take(warmMemory(1 << 20))
	defer m.Close()
	if m.file == nil {
		t.Log("this system shares no pictures")
		return
	}
	l := lay(t, m)
	table := m.file.pages
	m.file.pages = -1
	l.memory[5], l.memory[m.Size()-1] = 1, 1
	l.Restore()
	m.file.pages = table
	if !bytes.Equal(l.memory, warmMemory(1<<20)) {
		t.Error("it is not restored")
	}
}

func TestLayersKeepWhatTheyHoldWhenThePictureIsClosed(t *testing.T) {
	before := openFiles(t)
	m := Take(warmMemory(1 << 20))
	l := lay(t, m)
	l.memory[1] = 42
	m.Close()
	want := warmMemory(1 << 20)
	want[1] = 42
	if !bytes.Equal(l.memory, want) {
		t.Error("it changed")
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d files were open, now %d are", before, after)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0 // not on this system
	}
	return len(entries)
}

func TestASnapshotIsNotLaidOverMemoryOfAnotherSize(t *testing.T) {
	for name, m := range pictures(t, 1<<20) {
		if _, err := m.Lay(reserve(t, 2<<20)); err == nil {
			t.Error(name)
		}
	}
}

func BenchmarkRestore(b *testing.B) {
	for name, written := range map[string]int{"32 pages": 32, "256 pages": 256} {
		m := Take(warmMemory(3 << 20))
		memory, err := syscall.Mmap(-1, 0, 3<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err != nil {
			b.Fatal(err)
		}
		l, err := m.Lay(memory)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for n := range written {
					memory[n*2*blockSize] ^= 1
				}
				l.Restore()
			}
		})
		_ = syscall.Munmap(memory)
		m.Close()
	}
}
