package wasm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A service that starts again would compile, start and try every tool again only to put its code away. What this very
// program proved of a module, under the same terms, stands beside its compiled code. Only tools that doze are taken at
// their proof: what judges calls is started and tried each time.

// entryOf returns the place of a module in the cache.
func (e *engines) entryOf(c *candidate) cacheEntry {
	return cacheEntry{filepath.Join(e.config.CacheDir, c.key())}
}

func (h *Host) entryOf(c *candidate) cacheEntry { return h.engines.entryOf(c) }

// proven reports whether the entry is there with this proof. Whether its code is whole is seen when it is read.
func (c cacheEntry) proven(proof string) bool {
	if proof == "" {
		return false
	}
	_, err := os.Stat(c.sealFile())
	return err == nil && slices.Contains(c.proofs(), proof)
}

// proofs reads the proofs of an entry, the newest first.
func (c cacheEntry) proofs() []string {
	said, err := os.ReadFile(c.proofFile())
	if err != nil {
		return nil
	}
	return strings.Fields(string(said))
}

// keptProofs is how many proofs an entry has: programs and terms that take turns do not make each other start anew.
const keptProofs = 16

// knock makes sure that the plugin's folders are there, which no proof says.
func (p *Plugin) knock() error {
	_, closeFiles, err := openMounts(p.mounts, CallContext{})
	if err == nil {
		closeFiles()
	}
	return err
}

// attest remembers that the plugin was started and tried.
func (p *Plugin) attest() {
	if p.dozing == nil || p.proven {
		return
	}
	entry, proof := p.host.entryOf(p.dozing), p.dozing.proof()
	if proof == "" {
		return
	}
	all := append([]string{proof}, entry.proofs()...)
	if err := entry.place(entry.proofFile(), []byte(strings.Join(all[:min(len(all), keptProofs)], "\n"))); err != nil {
		p.log.Warn("wasm cache does not take a proof; the next start tries the plugin again", slog.Any("error", err))
	}
}

// proof names everything on which it depends whether a module starts and answers as it should: the module, its terms,
// and the program. It is empty when that cannot be told.
func (c *candidate) proof() string {
	program, err := program()
	if err != nil {
		return ""
	}
	terms, err := json.Marshal([]any{c.key(), c.manifest, c.limits, c.settings, c.mode, c.module.Grants, program})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(terms)
	return hex.EncodeToString(sum[:])
}

// program tells one build of the program from another: another one is another file.
func program() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.ModTime().IsZero() {
		return "", errors.New("the program has no time")
	}
	return fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano()), nil
}
