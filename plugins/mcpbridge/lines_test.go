package mcpbridge

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLinesAreReadWhole(t *testing.T) {
	r := newLineReader(strings.NewReader("one\r\n\ntwo\nlast"), 4096)
	var got []string
	for {
		line, oversized, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil || oversized {
			t.Fatal(oversized, err)
		}
		got = append(got, string(line))
	}
	if diff := cmp.Diff([]string{"one", "", "two", "last"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestOversizedLineKeepsItsEndsAndTheNextLineIsWhole(t *testing.T) {
	long := "head" + strings.Repeat("x", 300_000) + "tail"
	r := newLineReader(strings.NewReader(long+"\nnext\n"), 4096)
	line, oversized, err := r.next()
	if err != nil || !oversized || !strings.HasPrefix(string(line), "head") || !strings.HasSuffix(string(line), "tail") || len(line) > 70_000 {
		t.Errorf("got %d bytes, oversized %v, %v", len(line), oversized, err)
	}
	if line, oversized, err = r.next(); string(line) != "next" || oversized || err != nil {
		t.Errorf("got %q, %v, %v", line, oversized, err)
	}
}

func TestOversizedAnswerIsFoundByItsID(t *testing.T) {
	body := `{"content":[{"type":"text","text":"` + strings.Repeat("x", 5000)
	for _, c := range []struct {
		line  string
		id    int64
		known bool
	}{
		{`{"jsonrpc":"2.0","id":7,"result":` + body + `\",\"id\":8}"}]}}`, 7, true},
		{`{"id":7,"jsonrpc":"2.0","result":` + body + `"}]}}`, 7, true},
		{`{"result":` + body + `"}]},"jsonrpc":"2.0","id":7}`, 7, true},
		{`{"result":` + body + `"}]},"id":7,"jsonrpc":"2.0"}`, 7, true},
		{`{"jsonrpc":"2.0","result":` + body + `"}]}}`, 0, false},
		{strings.Repeat("garbage", 1000), 0, false},
	} {
		id, known := oversizedID([]byte(c.line))
		if id != c.id || known != c.known {
			t.Errorf("%.40s…: got %d %v", c.line, id, known)
		}
	}
}

func FuzzLineReaderKeepsItsBound(f *testing.F) {
	f.Add("a\nb", 100)
	f.Fuzz(func(t *testing.T, text string, repeat int) {
		repeat = max(1, min(repeat, 5000))
		r := newLineReader(strings.NewReader(strings.Repeat(text, repeat)), 2*edge)
		for {
			line, _, err := r.next()
			if err != nil {
				return
			}
			if len(line) > 128<<10 {
				t.Fatal(fmt.Sprint("line of ", len(line)))
			}
		}
	})
}
