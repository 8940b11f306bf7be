package guest

import (
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/wire"
)

// writeBytes writes text as it is and anything else as base64, under a name that says so. Nothing is left out.
func writeBytes(w *wire.Writer, name string, value []byte) {
	switch {
	case len(value) == 0:
	case utf8.Valid(value):
		w.Text(name, string(value))
	default:
		w.Text(name+"_base64", string(appendBase64(nil, value)))
	}
}

// finish ends a request to the host, whose every value is JSON.
func finish(w *wire.Writer) []byte {
	request, _ := w.End()
	return request
}

func integer(r *wire.Reader) int64 {
	n, err := strconv.ParseInt(r.Number(), 10, 64)
	if err != nil {
		r.Fail(err)
	}
	return n
}

func readRefusal(r *wire.Reader) *sdk.Refusal {
	refusal := &sdk.Refusal{}
	m := wire.NewFields("code", "message")
	for name := range r.Members() {
		switch m.Named(r, name) {
		case "code":
			refusal.Code = r.TextOrNull()
		case "message":
			refusal.Message = r.TextOrNull()
		default:
			r.Skip()
		}
	}
	return refusal
}

// Package encoding/base64 makes its tables when a module begins, which every module that imports this one would pay.
const base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

func appendBase64(out, value []byte) []byte {
	for len(value) > 0 {
		var three [3]byte
		n := copy(three[:], value)
		value = value[n:]
		bits := uint(three[0])<<16 | uint(three[1])<<8 | uint(three[2])
		for i := range 4 {
			if i > n {
				out = append(out, '=')
				continue
			}
			out = append(out, base64Letters[bits>>(18-6*i)&63])
		}
	}
	return out
}

func fromBase64(r *wire.Reader) []byte {
	encoded := r.TextOrNull()
	for len(encoded) > 0 && encoded[len(encoded)-1] == '=' {
		encoded = encoded[:len(encoded)-1]
	}
	out := make([]byte, 0, len(encoded)*3/4)
	bits, count := uint(0), 0
	for i := range len(encoded) {
		digit := base64Digit(encoded[i])
		if digit < 0 {
			r.Fail(errors.New("it holds a text that is no base64"))
			return nil
		}
		bits, count = bits<<6|uint(digit), count+6
		if count >= 8 {
			count -= 8
			out = append(out, byte(bits>>count))
		}
	}
	return out
}

func base64Digit(c byte) int {
	switch {
	case 'A' <= c && c <= 'Z':
		return int(c - 'A')
	case 'a' <= c && c <= 'z':
		return int(c-'a') + 26
	case '0' <= c && c <= '9':
		return int(c-'0') + 52
	case c == '+':
		return 62
	case c == '/':
		return 63
	}
	return -1
}
