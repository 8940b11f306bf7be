package gateway

import "slices"

// shelf holds what is kept of one workspace while it is active: first in, first out. Gateway.mu guards it.
type shelf struct {
	workspace string
	entries   []*entry          // calls in the order in which they were accepted
	keys      map[string]*entry // those that came with an idempotency key
	results   map[string]*entry // by result id
	events    []Event
	lost      int64 // sequence of the newest event that is gone; 0: none
	turns     []*turn
}

func newShelf(workspace string, lost int64) *shelf {
	return &shelf{workspace: workspace, keys: map[string]*entry{}, results: map[string]*entry{}, lost: lost}
}

// keep adds a call, and forgets the oldest one that has ended when there are more than most.
func (s *shelf) keep(e *entry, most int) {
	if len(s.entries) >= most {
		s.forget(slices.IndexFunc(s.entries, func(old *entry) bool { return old.ended }))
	}
	s.entries = append(s.entries, e)
	s.results[e.resultID] = e
	if e.key != "" {
		s.keys[e.key] = e
	}
}

// forget drops the call at a place; there is none below zero.
func (s *shelf) forget(at int) {
	if at < 0 {
		return
	}
	old := s.entries[at]
	s.entries = slices.Delete(s.entries, at, at+1)
	delete(s.results, old.resultID)
	if old.key != "" {
		delete(s.keys, old.key)
	}
}

// newest is the sequence of the newest event that was ever on the shelf; 0: there was none.
func (s *shelf) newest() int64 {
	if len(s.events) == 0 {
		return s.lost
	}
	return s.events[len(s.events)-1].Sequence
}
