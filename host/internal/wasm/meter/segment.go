package meter

import "fmt"

// elements copies the element section with shifted functions. The lowest bits of a segment's flags say: not active;
// with a table, or declarative; of expressions.
func (m *module) elements(r *reader) []byte {
	n := r.items()
	out := appendU32(nil, uint32(n))
	for i := 0; i < n && r.err == nil; i++ {
		flags := r.u32()
		if flags > 7 {
			r.fail(fmt.Errorf("element segment with flags %#x: %w", flags, ErrUnsupported))
		}
		out = appendU32(out, flags)
		if flags&1 == 0 {
			if flags&2 != 0 {
				out = appendU32(out, r.u32())
			}
			out = m.constant(r, out)
		}
		if flags&3 != 0 {
			out = append(out, r.byte()) // the engine knows the kinds
		}
		out = m.elementItems(r, out, flags)
	}
	return out
}

// elementItems copies the items of one segment. Those that wait for a table.init are kept by every instance: there may be
// as many of them as entries of tables.
func (m *module) elementItems(r *reader, out []byte, flags uint32) []byte {
	n := r.count()
	if flags&3 == 1 {
		m.waiting += uint64(n)
	}
	if most := m.options.TableEntries; m.waiting > uint64(most) {
		r.fail(fmt.Errorf("%d passive elements where %d are allowed: %w", m.waiting, most, ErrTooLarge))
	}
	out = appendU32(out, uint32(n))
	for i := 0; i < n && r.err == nil; i++ {
		if flags&4 != 0 {
			out = m.constant(r, out)
		} else {
			out = appendU32(out, m.functionIndex(r))
		}
	}
	return out
}

// dataSegments copies the data section; only the globals that offsets name are checked.
func (m *module) dataSegments(r *reader) []byte {
	n := r.items()
	out := appendU32(nil, uint32(n))
	for i := 0; i < n && r.err == nil; i++ {
		flags := r.u32()
		out = appendU32(out, flags)
		switch flags {
		case 0:
			out = m.constant(r, out)
		case 1:
		case 2:
			out = appendU32(out, r.u32())
			out = m.constant(r, out)
		default:
			r.fail(fmt.Errorf("data segment with flags %#x: %w", flags, ErrUnsupported))
		}
		out = appendSized(out, r.take(r.count()))
	}
	return out
}
