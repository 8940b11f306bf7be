package meter

// Parts of the name section.
const (
	namesModule    = 0
	namesFunctions = 1
	namesLocals    = 2
	namesLabels    = 3
	namesData      = 9
)

// shiftNames gives the name section with functions under their new indices, or nil when there is none or it is not as
// it should be: names are only for people.
func (m *module) shiftNames(helpers []added) []byte {
	if m.names == nil {
		return nil
	}
	r := &reader{data: m.names}
	var out []byte
	last := -1
	for r.more() {
		part := r.byte()
		content := &reader{data: r.take(r.count())}
		if int(part) <= last {
			r.malformed("parts out of order")
		}
		last = int(part)
		var shifted []byte
		switch {
		case part == namesFunctions:
			shifted = m.shiftFunctionNames(content, helpers)
		case part == namesLocals:
			shifted = m.shiftLocalNames(content)
		case part == namesLabels || part > namesData:
			continue
		default:
			shifted = content.take(len(content.data))
		}
		if r.err != nil || content.done() != nil {
			return nil
		}
		out = appendSized(append(out, part), shifted)
	}
	if r.err != nil {
		return nil
	}
	return out
}

// namedIndex gives the index under which a function's own name stands: imported functions keep theirs.
func (m *module) namedIndex(index uint32) uint32 {
	if index < m.tickIndex() {
		return index
	}
	return index + 1
}

func (m *module) shiftFunctionNames(r *reader, helpers []added) []byte {
	n := r.count()
	out := appendU32(nil, uint32(n+1+len(helpers)))
	ticked := false
	for i := 0; i < n && r.err == nil; i++ {
		index := r.u32()
		if index >= m.all() {
			r.malformed("name of an unknown function")
		}
		if index >= m.tickIndex() && !ticked {
			out, ticked = m.nameTick(out), true
		}
		out = appendSized(appendU32(out, m.namedIndex(index)), r.name())
	}
	if !ticked {
		out = m.nameTick(out)
	}
	for i, h := range helpers {
		out = appendSized(appendU32(out, m.all()+1+uint32(i)), h.label(i, len(helpers)-len(m.imports)))
	}
	return out
}

func (m *module) nameTick(out []byte) []byte {
	return appendSized(appendU32(out, m.tickIndex()), reserved+TickFunction)
}

// label is the name of an added function in a trace. Stand-ins bear the name of what they stand for.
func (h added) label(i, helpers int) string {
	if i < helpers {
		return reserved + h.name
	}
	return h.name
}

func (m *module) shiftLocalNames(r *reader) []byte {
	n := r.count()
	out := appendU32(nil, uint32(n))
	for i := 0; i < n && r.err == nil; i++ {
		out = appendU32(out, m.namedIndex(r.u32()))
		locals := r.count()
		out = appendU32(out, uint32(locals))
		for j := 0; j < locals && r.err == nil; j++ {
			out = appendSized(appendU32(out, r.u32()), r.name())
		}
	}
	return out
}
