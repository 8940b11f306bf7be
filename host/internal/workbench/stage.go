package workbench

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/fastreact/fastreact/host/internal/capability/egress"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/wasm"
)

// stage plays the world to a plugin: recorded answers instead of a network, and a store that lasts for one case. The
// egress broker in front of it is the real one, so grants, secrets and limits hold. One case is played at a time.
type stage struct {
	authority *authority
	secrets   map[string]string
	visitors  sync.WaitGroup // connections that are served

	mu     sync.Mutex
	script []Recording
	next   int
	unmet  []string
	pairs  map[string]run.Pair
	writes int64
}

// newStage collects the secrets that cases name. One that a manifest requests and no case names has a value too.
func newStage(subject *Subject) (*stage, error) {
	s := &stage{secrets: map[string]string{}, pairs: map[string]run.Pair{}}
	for _, c := range subject.Cases {
		for name, value := range c.Secrets {
			if other, known := s.secrets[name]; known && other != value {
				return nil, fmt.Errorf("case %s: secret %s has another value in another case", c.Name, name)
			}
			s.secrets[name] = value
		}
	}
	for _, secret := range subject.Inspection.Requested.Secrets {
		if _, known := s.secrets[secret.Name]; !known {
			s.secrets[secret.Name] = "value-of-" + secret.Name
		}
	}
	var err error
	s.authority, err = newAuthority()
	return s, err
}

// world is the stage as the plugin host sees it.
func (s *stage) world() wasm.World {
	return wasm.World{
		Pairs: s, Secrets: maps.Clone(s.secrets),
		Egress: egress.New(egress.Config{
			Resolve: everywhere, Connect: s.connect, RootCAs: s.authority.pool,
			Local: func() ([]netip.Addr, error) { return nil, nil },
		}),
	}
}

// everywhere is a resolver that knows every name. Nobody dials the address.
func everywhere(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("1.1.1.1")}, nil
}

func (s *stage) connect(context.Context, string, string) (net.Conn, error) {
	guest, actor := net.Pipe()
	s.visitors.Go(func() { s.serve(actor) })
	return guest, nil
}

// set begins a case.
func (s *stage) set(c *Case) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.next, s.unmet = c.HTTP, 0, nil
	s.pairs, s.writes = map[string]run.Pair{}, 0
	for _, key := range slices.Sorted(maps.Keys(c.KV)) {
		s.writes++
		s.pairs[key] = run.Pair{Key: key, Value: []byte(c.KV[key]), Version: s.writes}
	}
}

// struck ends a case and says what it saw amiss, and what the store holds.
func (s *stage) struck() (unmet []string, kept map[string]string) {
	s.visitors.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	unmet = s.unmet
	for _, left := range s.script[s.next:] {
		unmet = append(unmet, "http: nobody asked for "+shortened(string(asJSON(left.Request))))
	}
	kept = map[string]string{}
	for key, pair := range s.pairs {
		kept[key] = string(pair.Value)
	}
	return unmet, kept
}

// Pair implements wasm.Pairs.
func (s *stage) Pair(_ context.Context, _ run.Drawer, key string) (run.Pair, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pair, found := s.pairs[key]
	return pair, found, nil
}

// PutPair implements wasm.Pairs.
func (s *stage) PutPair(_ context.Context, _ run.Drawer, put run.Put) (run.PutOutcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if put.IfVersion != nil && *put.IfVersion != s.pairs[put.Key].Version {
		return run.PutOutcome{Conflict: true}, nil
	}
	size := int64(len(put.Key) + len(put.Value))
	for key, pair := range s.pairs {
		if key != put.Key {
			size += int64(len(key) + len(pair.Value))
		}
	}
	if size > put.Limit {
		return run.PutOutcome{Full: true}, nil
	}
	s.writes++
	s.pairs[put.Key] = run.Pair{Key: put.Key, Value: slices.Clone(put.Value), Version: s.writes}
	return run.PutOutcome{Version: s.writes}, nil
}

// DropPair implements wasm.Pairs.
func (s *stage) DropPair(_ context.Context, _ run.Drawer, key string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, found := s.pairs[key]
	delete(s.pairs, key)
	return found, nil
}
