package wire

import "strconv"

// Writer writes one JSON object, member by member. The first value that is no JSON spoils it.
type Writer struct {
	out []byte
	err error
}

// NewWriter begins an object with room for about size bytes.
func NewWriter(size int) *Writer { return &Writer{out: append(make([]byte, 0, size), '{')} }

func (w *Writer) name(name string) {
	if len(w.out) > 1 {
		w.out = append(w.out, ',')
	}
	w.out = append(AppendText(w.out, name), ':')
}

// Text writes a string.
func (w *Writer) Text(name, text string) {
	w.name(name)
	w.out = AppendText(w.out, text)
}

// TextIfAny writes a string that is not empty.
func (w *Writer) TextIfAny(name, text string) {
	if text != "" {
		w.Text(name, text)
	}
}

// Texts writes a list of strings; nil is null.
func (w *Writer) Texts(name string, texts []string) {
	w.name(name)
	w.out = AppendTexts(w.out, texts)
}

// TextsIfAny writes a list of strings that is not empty.
func (w *Writer) TextsIfAny(name string, texts []string) {
	if len(texts) > 0 {
		w.Texts(name, texts)
	}
}

// Bool writes true or false.
func (w *Writer) Bool(name string, truth bool) {
	w.name(name)
	w.out = strconv.AppendBool(w.out, truth)
}

// BoolIfSo writes true, and false not at all.
func (w *Writer) BoolIfSo(name string, truth bool) {
	if truth {
		w.Bool(name, truth)
	}
}

// Whole writes a whole number.
func (w *Writer) Whole(name string, number int) {
	w.name(name)
	w.out = strconv.AppendInt(w.out, int64(number), 10)
}

// NumberIfAny writes a number that is there.
func (w *Writer) NumberIfAny(name string, number *float64) {
	if number == nil {
		return
	}
	w.name(name)
	out, err := AppendNumber(w.out, *number)
	w.keep(out, err)
}

// Raw writes a JSON value without the white space between its parts; nil is null.
func (w *Writer) Raw(name string, value []byte) {
	w.name(name)
	out, err := AppendRaw(w.out, value)
	w.keep(out, err)
}

func (w *Writer) keep(out []byte, err error) {
	if err != nil {
		w.err = err
		return
	}
	w.out = out
}

// End returns the object, or why there is none.
func (w *Writer) End() ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	return append(w.out, '}'), nil
}
