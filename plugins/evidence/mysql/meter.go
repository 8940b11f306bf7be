package mysql

import (
	"errors"
	"net"
	"sync/atomic"
)

// errFlood is why nothing more is read of a connection.
var errFlood = errors.New("the server sent more than is read")

// overhead is what a server may send beside the rows of an answer: its greeting, and the names of columns.
const overhead = 1 << 20

// meter bounds what is read of one connection, whatever the driver would read.
type meter struct{ left atomic.Int64 }

func newMeter() *meter {
	m := &meter{}
	m.allow(0)
	return m
}

// allow sets how many bytes may be read from now on, beside the overhead.
func (m *meter) allow(bytes int) { m.left.Store(int64(bytes) + overhead) }

// flooded reports whether the bound was reached.
func (m *meter) flooded() bool { return m.left.Load() < 0 }

func (m *meter) around(conn net.Conn) net.Conn { return metered{conn, m} }

// metered is a connection that ends when its meter does.
type metered struct {
	net.Conn
	meter *meter
}

// Read reads as long as the meter allows it.
func (c metered) Read(into []byte) (int, error) {
	if c.meter.flooded() {
		return 0, errFlood
	}
	n, err := c.Conn.Read(into)
	if c.meter.left.Add(-int64(n)) < 0 {
		return 0, errFlood
	}
	return n, err
}
