package mcpbridge

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strconv"
)

// lineReader reads lines of bounded length. Of a longer line it keeps the two ends and drops the rest.
type lineReader struct {
	from  *bufio.Reader
	limit int
}

// edge is how much of each end of an oversized line is kept, to find out which answer it was.
const edge = 512

func newLineReader(from io.Reader, limit int) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, 64<<10), limit: limit}
}

// next returns the next line without its end. oversized reports that line holds only the two ends of a longer one.
// A last line without a newline counts; the error comes with the call after it.
func (r *lineReader) next() (line []byte, oversized bool, err error) {
	for {
		chunk, err := r.from.ReadSlice('\n')
		line = append(line, chunk...)
		if len(line) > r.limit {
			oversized = true
			line = append(line[:edge:edge], line[len(line)-min(edge, len(line)-edge):]...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && len(line) == 0 {
			return nil, false, err
		}
		return bytes.TrimRight(line, "\r\n"), oversized, nil
	}
}

// oversizedID finds the number of the request that an oversized answer belongs to. Servers write the id either before
// the result or last.
func oversizedID(ends []byte) (int64, bool) {
	head, tail := ends[:min(edge, len(ends))], ends[max(0, len(ends)-edge):]
	if before, _, found := bytes.Cut(head, []byte(`"result"`)); found {
		head = before
	}
	for _, try := range []struct {
		where   []byte
		pattern string
	}{
		{head, `^\s*\{[^{}\[\]]*"id"\s*:\s*(\d+)\s*[,}]`},
		{tail, `"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`},
	} {
		if match := regexp.MustCompile(try.pattern).FindSubmatch(try.where); match != nil {
			id, err := strconv.ParseInt(string(match[1]), 10, 64)
			return id, err == nil
		}
	}
	return 0, false
}
