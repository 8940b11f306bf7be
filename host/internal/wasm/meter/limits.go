package meter

import "fmt"

// noLimit lets limits pass as they are.
const noLimit = 1<<64 - 1

// limits reads the minimum and maximum of a memory or table; without a declared maximum, it is the cap.
func (r *reader) limits(most uint64) (least, greatest uint32) {
	flags := r.byte()
	least, greatest = r.u32(), 1<<32-1
	switch flags {
	case 0:
	case 1:
		greatest = r.u32()
	case 2, 3:
		r.fail(fmt.Errorf("shared memory: %w", ErrUnsupported))
	default:
		r.fail(fmt.Errorf("limits with flags %#x: %w", flags, ErrUnsupported))
	}
	switch {
	case r.err != nil:
	case least > greatest:
		r.malformed("minimum above the maximum")
	case uint64(least) > most:
		r.fail(fmt.Errorf("minimum of %d where %d are allowed: %w", least, most, ErrTooLarge))
	}
	return least, uint32(min(uint64(greatest), most))
}

func appendLimits(out []byte, least, greatest uint32) []byte {
	return appendU32(appendU32(append(out, 1), least), greatest)
}

// capTables writes the table section with a maximum for every table. All together have as many entries as are allowed:
// each grows by an equal share of what they do not begin with.
func (m *module) capTables(r *reader) []byte {
	n := r.items()
	share := m.shareOfTables(r, n)
	out := appendU32(nil, uint32(n))
	for i := 0; i < n && r.err == nil; i++ {
		out = append(out, r.referenceType())
		least, greatest := r.limits(uint64(m.options.TableEntries))
		out = appendLimits(out, least, uint32(min(uint64(greatest), uint64(least)+share)))
	}
	return out
}

// shareOfTables returns by how much each of n tables may grow. r stands at the first, and is left there.
func (m *module) shareOfTables(r *reader, n int) uint64 {
	ahead, most, all := *r, uint64(m.options.TableEntries), uint64(0)
	for i := 0; i < n && ahead.err == nil; i++ {
		ahead.referenceType()
		least, _ := ahead.limits(noLimit)
		all += uint64(least)
	}
	switch {
	case all > most:
		r.fail(fmt.Errorf("tables of %d entries where %d are allowed: %w", all, most, ErrTooLarge))
		return 0
	case n == 0:
		return 0
	}
	return (most - all) / uint64(n)
}

// capMemories does the same with memories. A number of pages that no memory can have is malformed, not capped.
func (m *module) capMemories(r *reader) []byte {
	n := r.count()
	out := appendU32(nil, uint32(n))
	for i := 0; i < n && r.err == nil; i++ {
		start := r.at
		least, greatest := r.limits(noLimit)
		declared := start < len(r.data) && r.data[start] == 1
		if least > maxPages || declared && greatest > maxPages {
			r.malformed("memory of more than 4 GiB")
		}
		if least > m.options.MemoryPages && r.err == nil {
			r.fail(fmt.Errorf("%d pages of memory where %d are allowed: %w", least, m.options.MemoryPages, ErrTooLarge))
		}
		out = appendLimits(out, least, min(greatest, m.options.MemoryPages))
	}
	return out
}
