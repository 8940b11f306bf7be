package passport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"
)

// keyring holds the last good set of keys and reads it again when it is old or a token names a key that it lacks. A
// reading that fails changes nothing.
type keyring struct {
	cfg    Config
	client *http.Client
	turn   chan struct{} // holds a value while somebody reads

	mu      sync.Mutex
	keys    []key
	read    time.Time // when keys came
	asked   time.Time // last reading for the sake of an unknown key
	tried   time.Time // last reading that failed
	failure error     // of that one
}

func newKeyring(cfg Config) *keyring {
	return &keyring{cfg: cfg, turn: make(chan struct{}, 1), client: &http.Client{
		Transport: cfg.Transport, Timeout: cfg.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// find returns the public key of a name and an algorithm.
func (k *keyring) find(ctx context.Context, name, algorithm string) (any, error) {
	keys, err := k.current(ctx)
	if err != nil {
		return nil, err
	}
	if found := choose(keys, name, algorithm); found != nil {
		return found, nil
	}
	if !k.mayAsk() {
		return nil, errors.New("the token's key is not known")
	}
	if err := k.load(ctx); err != nil {
		k.cfg.Log.Warn("token keys could not be read again", slog.Any("error", err))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if found := choose(k.keys, name, algorithm); found != nil {
		return found, nil
	}
	return nil, errors.New("the token's key is not known")
}

// choose returns the key of a name and an algorithm. A token that names no key has it only when one alone fits.
func choose(keys []key, name, algorithm string) any {
	var fitting []any
	for _, k := range keys {
		if k.algorithm == algorithm && (name == "" || k.name == name) {
			fitting = append(fitting, k.public)
		}
	}
	if len(fitting) != 1 {
		return nil
	}
	return fitting[0]
}

// mayAsk reports whether an unknown key is worth a reading, and remembers that it was.
func (k *keyring) mayAsk() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.cfg.Clock()
	if !k.asked.IsZero() && now.Sub(k.asked) < k.cfg.Cooldown {
		return false
	}
	k.asked = now
	return true
}

// current returns the set, read again when it is old. Of many callers one reads; those who have a set do not wait.
func (k *keyring) current(ctx context.Context) ([]key, error) {
	k.mu.Lock()
	keys, now := k.keys, k.cfg.Clock()
	old := now.Sub(k.read) >= k.cfg.Refresh
	resting := !k.tried.IsZero() && now.Sub(k.tried) < k.cfg.Cooldown
	failure := k.failure
	k.mu.Unlock()
	switch {
	case keys != nil && (!old || resting):
		return keys, nil
	case keys == nil && resting:
		return nil, fmt.Errorf("%w: %w", ErrNoKeys, failure)
	}
	if keys != nil {
		k.tryLoad(ctx)
	} else if err := k.loadOnce(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoKeys, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys, nil
}

// tryLoad reads the set unless somebody does already.
func (k *keyring) tryLoad(ctx context.Context) {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
		if err := k.fetch(ctx); err != nil {
			k.cfg.Log.Warn("token keys could not be read again", slog.Any("error", err))
		}
	default:
	}
}

// loadOnce waits for the first set, whoever reads it.
func (k *keyring) loadOnce(ctx context.Context) error {
	return k.inTurn(ctx, func() error {
		k.mu.Lock()
		there, resting, failure := k.keys != nil, k.cfg.Clock().Sub(k.tried) < k.cfg.Cooldown, k.failure
		k.mu.Unlock()
		switch {
		case there:
			return nil
		case resting && failure != nil:
			return failure
		}
		return k.fetch(ctx)
	})
}

// load reads the set.
func (k *keyring) load(ctx context.Context) error {
	return k.inTurn(ctx, func() error { return k.fetch(ctx) })
}

func (k *keyring) inTurn(ctx context.Context, read func() error) error {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
		return read()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fetch reads and keeps the set. A client that leaves does not end a reading that others wait for.
func (k *keyring) fetch(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), k.cfg.Timeout)
	defer stop()
	keys, err := k.readSet(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.cfg.Clock()
	if err != nil {
		k.tried, k.failure = now, err
		return err
	}
	k.keys, k.read, k.tried, k.failure = keys, now, time.Time{}, nil
	return nil
}

func (k *keyring) readSet(ctx context.Context) ([]key, error) {
	text, err := k.readText(ctx)
	if err != nil {
		return nil, err
	}
	keys, skipped, err := parseSet(text)
	if err != nil {
		return nil, fmt.Errorf("read key set %s%s: %w", k.cfg.File, k.cfg.URL, err)
	}
	for _, reason := range skipped {
		k.cfg.Log.Warn("a key of the set is not used", slog.Any("error", reason))
	}
	return keys, nil
}

func (k *keyring) readText(ctx context.Context) ([]byte, error) {
	if k.cfg.File != "" {
		file, err := os.Open(k.cfg.File)
		if err != nil {
			return nil, fmt.Errorf("read key set: %w", err)
		}
		defer file.Close()
		return k.bounded(file)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.cfg.URL, nil)
	if err != nil {
		return nil, fmt.Errorf("read key set: %w", err)
	}
	request.Header.Set("Accept", "application/jwk-set+json, application/json")
	response, err := k.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("read key set: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read key set %s: status %d", k.cfg.URL, response.StatusCode)
	}
	return k.bounded(response.Body)
}

func (k *keyring) bounded(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, k.cfg.MaxBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read key set: %w", err)
	case int64(len(text)) > k.cfg.MaxBytes:
		return nil, fmt.Errorf("read key set: larger than %d bytes", k.cfg.MaxBytes)
	}
	return text, nil
}
