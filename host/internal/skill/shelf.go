package skill

import (
	"sync"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Shelf holds the set in force. It may be used from many goroutines.
type Shelf struct {
	cfg Config

	mu  sync.RWMutex
	set *Set
}

// Open loads the skills for the first time.
func Open(cfg Config) (*Shelf, error) {
	set, err := Load(cfg)
	if err != nil {
		return nil, err
	}
	return &Shelf{cfg: cfg, set: set}, nil
}

// Reload reads the folder again. When anything in it is wrong, the set in force stays.
func (s *Shelf) Reload() error {
	set, err := Load(s.cfg)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set = set
	return nil
}

// All returns every skill, by name.
func (s *Shelf) All() []run.Skill { return s.now().All() }

// Choose picks the skills of one run; see Set.Choose.
func (s *Shelf) Choose(question string, wanted *[]string) (chosen []run.Skill, unknown []string) {
	return s.now().Choose(question, wanted)
}

func (s *Shelf) now() *Set {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.set
}
