package main

import (
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"unsafe"
)

// input and answer are what the host was given pointers to.
var input, answer []byte

//go:wasmexport fastreact_abi
func abi() uint32 { return 1 }

//go:wasmexport fastreact_alloc
func alloc(size uint32) uint32 {
	input = make([]byte, max(size, 1))
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(input))))
}

//go:wasmexport fastreact_call
func call(op, _, size uint32) uint64 {
	text := input[:size]
	switch op {
	case 1:
		return act(word(text))
	case 2:
		return judge(word(text))
	case 3:
		return inject(text)
	case 4:
		return filter(text)
	case 5:
		return review(text)
	}
	return 0
}

// packed gives an answer to the host.
func packed(text string) uint64 {
	answer = []byte(text)
	if len(answer) == 0 {
		answer = make([]byte, 1)
		return packedBytes(answer[:0])
	}
	return packedBytes(answer)
}

func packedBytes(b []byte) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))<<32 | uint64(len(b))
}

// word is the behaviour that a call asks for.
func word(text []byte) string {
	var asked struct {
		Args struct {
			Behave string `json:"behave"`
		} `json:"args"`
	}
	_ = json.Unmarshal(text, &asked)
	return asked.Args.Behave
}

// fail does what ends no plugin well; done is false when it knows no such behaviour.
func fail(behave string) (result uint64, done bool) {
	switch behave {
	case "trap":
		panic("as asked")
	case "blab":
		println("a guest writes", spelled())
		_, _ = syscall.Write(1, []byte("a guest prints "+spelled()))
		panic("a guest panics with " + spelled())
	case "exit":
		exit(0)
	case "spin":
		for n := 0; ; n++ {
			hoard[0] = byte(n)
		}
	case "hog":
		for {
			hoards = append(hoards, make([]byte, 1<<20))
		}
	case "zero":
		return 0, true
	case "empty":
		return packed(""), true
	case "text":
		return packed("this is no JSON"), true
	case "cut":
		return packed(`{"action":"allow"`), true
	case "trailing":
		return packed(`{"action":"allow"}{"action":"allow"}`), true
	case "null":
		return packed("null"), true
	case "out-of-bounds":
		return 0xfffffff0<<32 | 100, true
	case "flood":
		return packed(`{"reason":"` + strings.Repeat("x", 100_000) + `"}`), true
	}
	return 0, false
}

// spelled is a secret that stands nowhere in the module as it is.
func spelled() string {
	letters := []byte("tseug-a-morf-yranac")
	slices.Reverse(letters)
	return string(letters)
}

var (
	hoard  = make([]byte, 1)
	hoards [][]byte
)

//go:wasmimport wasi_snapshot_preview1 proc_exit
func exit(code uint32)
