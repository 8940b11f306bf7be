package host

import "github.com/fastreact/fastreact/host/internal/release"

// guards lends the guards that are in force. While there are none, nothing is released.
func (s *Server) guards() (guards []release.Guard, giveBack func()) { return nil, func() {} }
