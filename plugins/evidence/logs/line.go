package logs

import (
	"bufio"
	"errors"
	"strings"
)

// lineReader reads lines of any length and keeps the start of those that are too long.
type lineReader struct {
	from *bufio.Reader
	long int // lines that were cut
}

// next returns a line without its end. Bytes that are no UTF-8 are replaced.
func (r *lineReader) next() (string, error) {
	raw, err := r.from.ReadSlice('\n')
	text := strings.ToValidUTF8(strings.TrimRight(string(raw), "\r\n"), "�")
	if errors.Is(err, bufio.ErrBufferFull) {
		r.long++
		return text, r.drop()
	}
	if len(raw) > 0 {
		return text, nil
	}
	return "", err
}

// drop skips the rest of a line. The end of the file ends the line too.
func (r *lineReader) drop() error {
	for {
		_, err := r.from.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil
		}
	}
}
