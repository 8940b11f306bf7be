package snapshot

import (
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// file holds a picture outside Go's heap, sealed against every change. Memories are private mappings of it: the system
// copies a page when a guest writes to it for the first time, and can tell which pages were copied.
type file struct {
	fd, pages int // the file, and the table of this process's pages
	shown     []byte
}

// openFile returns nil when the system cannot do it, or does it otherwise than is needed here.
func openFile(memory []byte, empty []bool) *file {
	if len(memory) == 0 {
		return nil
	}
	f := &file{fd: -1, pages: -1}
	if f.fill(memory, empty) != nil || !f.works() {
		f.close()
		return nil
	}
	return f
}

func (f *file) fill(memory []byte, empty []bool) (err error) {
	if f.fd, err = unix.MemfdCreate("snapshot", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING); err != nil {
		return err
	}
	if err = unix.Ftruncate(f.fd, int64(len(memory))); err != nil {
		return err
	}
	for n, skip := range empty {
		if skip {
			continue
		}
		at := n * blockSize
		if wrote, err := unix.Pwrite(f.fd, memory[at:at+blockSize], int64(at)); err != nil || wrote != blockSize {
			return unix.EIO
		}
	}
	seals := unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err = unix.FcntlInt(uintptr(f.fd), unix.F_ADD_SEALS, seals); err != nil {
		return err
	}
	if f.shown, err = unix.Mmap(f.fd, 0, len(memory), unix.PROT_READ, unix.MAP_PRIVATE); err != nil {
		return err
	}
	f.pages, err = unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	return err
}

// works tries it out: of a memory that is read everywhere and written to at its two ends, those are found and no more,
// and the two faults were counted.
func (f *file) works() bool {
	trial, err := unix.Mmap(-1, 0, len(f.shown), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Munmap(trial) }() // fails only for what is no mapping
	if f.lay(trial) != nil {
		return false
	}
	sum := byte(0)
	for at := 0; at < len(trial); at += blockSize {
		sum += trial[at]
	}
	before, _ := faults()
	trial[0], trial[len(trial)-1] = sum+1, sum+2
	after, counted := faults()
	page := unix.Getpagesize()
	want := []span{{0, page}, {len(trial) - page, len(trial)}}
	written, told := f.written(trial, nil)
	return counted && after >= before+2 && told && slices.Equal(written, want)
}

// faults counts the pages that this process got when it touched them.
func faults() (count int64, counted bool) {
	var usage unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_SELF, &usage)
	return usage.Minflt + usage.Majflt, err == nil
}

func (f *file) lay(over []byte) error {
	_, err := unix.MmapPtr(f.fd, 0, unsafe.Pointer(unsafe.SliceData(over)), uintptr(len(over)),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	return err
}

// scanner is the argument of PAGEMAP_SCAN and the room for its answer, as linux/fs.h lays them out.
type scanner struct {
	size, flags            uint64
	start, end, walked     uint64
	answer, answers, limit uint64
	inverted, all, any     uint64
	wanted                 uint64
	found                  [128]struct{ from, to, categories uint64 }
}

// What linux/fs.h calls PAGEMAP_SCAN and three of the categories of a page. The kernel knows them since 6.7.
const (
	pagemapScan  = 0xc0606610
	argumentSize = 96

	pageIsFile    = 1 << 2
	pageIsPresent = 1 << 3
	pageIsSwapped = 1 << 4
)

// written appends the parts of a memory that are not shared with the picture any more. It returns false when the system
// did not tell all of them.
func (f *file) written(memory []byte, parts []span) ([]span, bool) {
	s := new(scanner)
	base := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(memory))))
	end := base + uint64(len(memory))
	for at := base; at < end; at = s.walked {
		*s = scanner{
			size: argumentSize, start: at, end: end,
			answer: uint64(uintptr(unsafe.Pointer(&s.found))), answers: uint64(len(s.found)),
			inverted: pageIsFile, all: pageIsFile, any: pageIsPresent | pageIsSwapped,
		}
		count, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(f.pages), pagemapScan, uintptr(unsafe.Pointer(s)))
		if errno != 0 || s.walked <= at || count > uintptr(len(s.found)) {
			return nil, false
		}
		for _, region := range s.found[:count] {
			parts = append(parts, span{int(region.from - base), int(region.to - base)})
		}
	}
	runtime.KeepAlive(s)
	return parts, true
}

func (f *file) close() {
	if f.shown != nil {
		_ = unix.Munmap(f.shown) // fails only for what is no mapping
	}
	for _, fd := range []int{f.fd, f.pages} {
		if fd >= 0 {
			_ = unix.Close(fd) // nothing was written that could be lost
		}
	}
}
