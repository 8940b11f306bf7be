package wire

import (
	"bytes"
	"testing"
)

func TestPlainEndsAtTheFirstByteThatIsNot(t *testing.T) {
	for odd := range 256 {
		for at := range 20 {
			text := bytes.Repeat([]byte("x"), 25)
			text[at] = byte(odd)
			want := at
			if plainByte(byte(odd)) {
				want = len(text)
			}
			if got := plainSize(text); got != want {
				t.Fatalf("byte %#x at %d: plain up to %d, want %d", odd, at, got, want)
			}
		}
	}
}
