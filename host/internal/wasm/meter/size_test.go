package meter_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/fastreact/fastreact/host/internal/wasm/meter"
)

// extremes are modules that are as much as possible of one thing, of about so many bytes.
func extremes(size int) map[string][]byte {
	many := func(item ...byte) [][]byte {
		var items [][]byte
		for range min(size/(len(item)+1), 100_000) {
			items = append(items, item)
		}
		return items
	}
	wide := make([]byte, 1000)
	for i := range wide {
		wide[i] = i32
	}
	repeat := func(instructions ...byte) []byte {
		d := function(nil, nil, nil, bytes.Repeat(instructions, size/len(instructions))...)
		d.memories = [][]byte{{0, 1}}
		return d.bytes()
	}
	nested := func(open ...byte) []byte {
		n := size / (len(open) + 1)
		return function(nil, nil, nil, join(bytes.Repeat(open, n), bytes.Repeat([]byte{0x0b}, n))...).bytes()
	}
	return map[string][]byte{
		"loops":         repeat(0x03, 0x40, 0x0b),
		"nested loops":  nested(0x03, 0x40),
		"nested blocks": nested(0x02, 0x40),
		"calls":         repeat(0x10, 0),
		"returns":       repeat(0x0f),
		"copies":        repeat(0x00, 0xfc, 0x0a, 0, 0),
		"bytes that count": func() []byte {
			return function(nil, nil, nil, join([]byte{0x00, 0x0e}, number(size), make([]byte, size+1))...).bytes()
		}(),
		"functions": draft{
			types: [][]byte{signature(nil, nil)}, functions: many(0), codes: many(4, 0, 0x10, 0, 0x0b),
		}.bytes(),
		"functions of many results": draft{
			types: [][]byte{signature(nil, wide)}, functions: many(0), codes: many(5, 0, 0x10, 0, 0x00, 0x0b),
		}.bytes(),
		"imports": draft{types: [][]byte{signature(nil, nil)}, imports: many(0, 0, 0, 0)}.bytes(),
		"imports of many parameters": draft{
			types: [][]byte{signature(wide, nil)}, imports: many(0, 0, 0, 0),
		}.bytes(),
		"types":   draft{types: many(signature(nil, nil)...)}.bytes(),
		"globals": draft{globals: many(i32, 1, 0x41, 0, 0x0b)}.bytes(),
		"names":   draft{customs: [][]byte{custom("name", bytes.Repeat([]byte{9, 0}, size/2)...)}}.bytes(),
	}
}

func TestExtremeModulesAreRefusedOrStayInProportion(t *testing.T) {
	const size = 700_000
	for name, module := range extremes(size) {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			metered, err := meter.Rewrite(module, generous)
			took := time.Since(began)
			if took > 20*time.Second {
				t.Errorf("it takes %v", took)
			}
			if len(metered.Bytes) > 32*len(module)+4096 {
				t.Errorf("%d bytes became %d", len(module), len(metered.Bytes))
			}
			t.Logf("%d bytes, %.1f times as many, %v, %v", len(module), float64(len(metered.Bytes))/float64(len(module)), took, err)
		})
	}
}

// crossing is a function in which ways meet again and again, each time with many locals that were set on one of them only.
func crossing(ways, locals int) []byte {
	var body []byte
	body = append(body, bytes.Repeat([]byte{0x02, 0x40}, ways)...)
	for i := range ways {
		body = append(body, join([]byte{0x23, 0, 0x0d}, number(i))...)
	}
	for i := range locals {
		body = append(body, join([]byte{0x23, 0, 0x21}, number(i))...)
	}
	body = append(body, bytes.Repeat([]byte{0x0b}, ways)...)
	for i := range locals {
		body = append(body, join([]byte{0x20}, number(i), []byte{0x24, 0})...)
	}
	loop := join([]byte{0x03, 0x40}, body, []byte{0x0c, 0, 0x0b})
	d := function(nil, nil, [][]byte{join(number(locals), []byte{i32})}, loop...)
	d.globals = [][]byte{{i32, 1, 0x41, 0, 0x0b}}
	return d.bytes()
}

func TestWaysThatMeetAreCharged(t *testing.T) {
	r, c := newRuntime(t), deadline()
	c.install(t, r)
	m, err := r.Instantiate(t.Context(), rewrite(t, crossing(300, 300), generous))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = m.ExportedFunction("run").Call(t.Context())
	if took := time.Since(began); !errors.Is(err, errLate) || took > prompt {
		t.Errorf("ended after %v with %v", took, err)
	} else {
		t.Logf("ended after %v, %.1f ns for each unit of fuel", took, float64(took.Nanoseconds())/float64(c.given))
	}
}

func TestWaysThatMeetTooOftenAreRefused(t *testing.T) {
	_, err := meter.Rewrite(crossing(600, 600), generous)
	if !errors.Is(err, meter.ErrTooLarge) {
		t.Errorf("refused with %v", err)
	}
}
