package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// frame is one server-sent event.
type frame struct {
	id, event string
	data      []byte
}

// frames reads server-sent events, none larger than most bytes.
type frames struct {
	reader *bufio.Reader
	most   int
}

func newFrames(r io.Reader, most int) *frames {
	return &frames{reader: bufio.NewReaderSize(r, 64<<10), most: most}
}

// next returns the next frame that carries data. io.EOF means that the connection ended between frames,
// io.ErrUnexpectedEOF that it broke within one.
func (f *frames) next() (frame, error) {
	var one frame
	started, size := false, 0
	for {
		line, err := f.line(f.most - size)
		if err != nil {
			if errors.Is(err, io.EOF) && (started || len(line) > 0) {
				err = io.ErrUnexpectedEOF
			}
			return frame{}, err
		}
		if len(line) == 0 {
			if one.data != nil {
				one.data = bytes.TrimSuffix(one.data, []byte("\n"))
				return one, nil
			}
			one, started, size = frame{}, false, 0
			continue
		}
		started = true
		size += len(line)
		one.add(line)
	}
}

// add takes one line: a field, or a comment.
func (one *frame) add(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "id":
		one.id = string(value)
	case "event":
		one.event = string(value)
	case "data":
		one.data = append(append(one.data, value...), '\n')
	}
}

// line returns one line without its end, or ErrTooLarge when it is longer than most.
func (f *frames) line(most int) ([]byte, error) {
	var whole []byte
	for {
		part, err := f.reader.ReadSlice('\n')
		if len(whole)+len(part) > most+2 {
			return nil, ErrTooLarge
		}
		whole = append(whole, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return whole, err
		}
		return bytes.TrimRight(whole, "\r\n"), nil
	}
}
