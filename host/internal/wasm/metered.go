package wasm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fastreact/fastreact/host/internal/wasm/meter"
)

// mostPages is what a 32-bit memory can have. The memory itself refuses more than the plugin's limit, so that a refusal
// is known when the guest gives up.
const mostPages = 1 << 16

// metering is what is written into the module.
func (c *candidate) metering() meter.Options {
	return meter.Options{MemoryPages: mostPages, TableEntries: c.limits.TableEntries, CallDepth: c.limits.CallDepth}
}

// metered returns the module with its limits written into it.
func (c *candidate) metered() (m meter.Module, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			m, err = meter.Module{}, fmt.Errorf("meter module: host panic: %v", cause)
		}
	}()
	if m, err = meter.Rewrite(c.module.Bytes, c.metering()); err != nil {
		return meter.Module{}, fmt.Errorf("meter module: %w", err)
	}
	return m, nil
}

// origin says of what a metered module was made, and how.
type origin struct {
	Revision int           `json:"revision"` // of the meter
	Digest   string        `json:"digest"`   // of the author's module
	Options  meter.Options `json:"options"`
}

func (c *candidate) origin() origin { return origin{meter.Revision, c.digest, c.metering()} }

// keptModule is the first line of the file in which a metered module is kept; its bytes follow.
type keptModule struct {
	Origin       origin   `json:"origin"`
	Globals      []string `json:"globals"`
	Unrestorable string   `json:"unrestorable"`
}

// meteredFile is where an entry keeps the metered module: making it again takes as long as all the rest of a warm start.
func (c cacheEntry) meteredFile() string { return filepath.Join(c.dir, "metered.module") }

// metered returns the metered module that the entry keeps. It is none when the entry has no such file, or one that was
// made otherwise.
func (c cacheEntry) metered(want origin) (m meter.Module, kept bool) {
	content, err := os.ReadFile(c.meteredFile())
	if err != nil {
		return meter.Module{}, false
	}
	line, code, _ := bytes.Cut(content, []byte("\n"))
	var known keptModule
	if json.Unmarshal(line, &known) != nil || known.Origin != want {
		return meter.Module{}, false
	}
	return meter.Module{Bytes: code, Globals: known.Globals, Unrestorable: known.Unrestorable}, true
}

// keepMetered puts a metered module into the entry.
func (c cacheEntry) keepMetered(from origin, m meter.Module) error {
	line, err := json.Marshal(keptModule{from, m.Globals, m.Unrestorable})
	if err != nil {
		return fmt.Errorf("keep metered module: %w", err)
	}
	if err := c.place(c.meteredFile(), append(line, '\n'), m.Bytes); err != nil {
		return fmt.Errorf("keep metered module: %w", err)
	}
	return nil
}
