package agenttools

import (
	"bytes"
	"strconv"
	"strings"
	"sync/atomic"
)

// maxLine is how much of a header line is looked at, in bytes. A name that is longer is none of ours.
const maxLine = 64

// frames follows the requests on one connection far enough to count how often each declares its length and names its
// host. Reads of a connection come one after another; the findings may be asked for at any time.
type frames struct {
	twice   atomic.Bool // a request has declared its length more than once, or in a way that cannot be followed
	twoHost atomic.Bool // a request has named more than one host, even if the same one

	line     []byte // of a head, so far
	hosts    int    // named in this head
	lengths  int    // declared in this head
	length   int64  // the last of them
	endless  bool   // this head declares no end of its body that can be followed
	skip     int64  // bytes of a body that are to come
	finished bool   // what follows cannot be told apart any more; the connection ends with this request
}

func (f *frames) see(read []byte) {
	for len(read) > 0 && !f.finished {
		if f.skip > 0 {
			jump := min(f.skip, int64(len(read)))
			f.skip -= jump
			read = read[jump:]
			continue
		}
		line, rest, ended := bytes.Cut(read, []byte("\n"))
		f.line = append(f.line, line[:min(len(line), maxLine-len(f.line))]...)
		read = rest
		if ended {
			f.endLine()
		}
	}
}

// endLine looks at a whole line of a head. An empty one ends the head.
func (f *frames) endLine() {
	line := strings.TrimSuffix(string(f.line), "\r")
	f.line = f.line[:0]
	if line == "" {
		f.skip, f.finished = f.length, f.endless
		f.length, f.lengths, f.hosts = 0, 0, 0
		return
	}
	name, value, _ := strings.Cut(line, ":")
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "content-length":
		f.declare(strings.TrimSpace(value))
	case "transfer-encoding":
		f.endless = true
	case "host":
		f.hosts++
		f.twoHost.CompareAndSwap(false, f.hosts > 1)
	}
}

func (f *frames) declare(value string) {
	length, err := strconv.ParseInt(value, 10, 64)
	f.lengths++
	if f.lengths > 1 || err != nil || length < 0 {
		f.twice.Store(true)
		f.endless = true
	}
	f.length = length
}
