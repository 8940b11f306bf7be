package chaos

import (
	"io"
	"net"
	"sync"
)

// proxy is the network between one node and the database.
type proxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	down  bool          // connections are refused
	open  chan struct{} // closed while data may pass
	conns map[net.Conn]bool
}

func newProxy(target string) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, target: target, open: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(p.open)
	go p.serve()
	return p, nil
}

func (p *proxy) serve() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", p.target)
		if err != nil || !p.keep(near, far) {
			_ = near.Close()
			if err == nil {
				_ = far.Close()
			}
			continue
		}
		go p.pass(near, far)
		go p.pass(far, near)
	}
}

// keep remembers both ends of a connection, unless there are to be none.
func (p *proxy) keep(both ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return false
	}
	for _, c := range both {
		p.conns[c] = true
	}
	return true
}

// pass copies until one end is gone, and holds what came while nothing may pass.
func (p *proxy) pass(from, to net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		open := p.open
		p.mu.Unlock()
		<-open
		if n > 0 {
			if _, werr := to.Write(buffer[:n]); werr != nil {
				err = werr
			}
		}
		if err != nil {
			break
		}
	}
	p.drop(from, to)
}

func (p *proxy) drop(some ...io.Closer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range some {
		delete(p.conns, c.(net.Conn))
		_ = c.Close()
	}
}

// cut ends every connection and refuses new ones.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for c := range p.conns {
		_ = c.Close()
	}
	clear(p.conns)
}

// stall lets nothing pass, and tells nobody.
func (p *proxy) stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

// mend makes the network whole again.
func (p *proxy) mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}

// close ends it for good.
func (p *proxy) close() {
	_ = p.listener.Close()
	p.mend()
	p.cut()
}
