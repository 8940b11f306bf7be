package wire

// Skip reads any value and forgets it. It is as strict as reading.
func (r *Reader) Skip() {
	switch r.Kind() {
	case Text:
		r.quoted()
	case Object:
		r.skipMembers()
	case List:
		r.skipElements()
	case Number:
		r.number()
	case Bool:
		r.Bool()
	case Null:
		r.TakeNull()
	default:
		r.fail("a value is missing")
	}
}

func (r *Reader) skipMembers() {
	if !r.open('{', "an object") {
		return
	}
	for first := true; r.more('}', first); first = false {
		r.key()
		r.Skip()
	}
}

func (r *Reader) skipElements() {
	if !r.open('[', "a list") {
		return
	}
	for first := true; r.more(']', first); first = false {
		r.Skip()
	}
}

// number reads a number: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
func (r *Reader) number() {
	r.take("-")
	if !r.take("0") {
		r.digits()
	}
	if r.take(".") {
		r.digits()
	}
	if r.take("eE") {
		r.take("+-")
		r.digits()
	}
}

// take reads one byte if it is among set.
func (r *Reader) take(set string) bool {
	if r.at == len(r.text) {
		return false
	}
	for i := range len(set) {
		if r.text[r.at] == set[i] {
			r.at++
			return true
		}
	}
	return false
}

func (r *Reader) digits() {
	start := r.at
	for r.at < len(r.text) && '0' <= r.text[r.at] && r.text[r.at] <= '9' {
		r.at++
	}
	if r.at == start {
		r.fail("a digit is missing")
	}
}
