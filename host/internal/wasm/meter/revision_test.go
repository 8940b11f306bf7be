package meter_test

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/fastreact/fastreact/host/internal/wasm/meter"
)

// written is the digest of what this revision makes of the modules in testdata. Whoever changes what is written gives
// meter.Revision its next number and writes the new digest here.
const written = "1 9c7dc16c4e5a35b8d19b0ab9c981c4100a70397205a065df1d99650075d88a73"

func TestARewriterThatWritesOtherwiseHasAnotherRevision(t *testing.T) {
	hash := sha256.New()
	for _, name := range []string{"exits", "hostile", "start", "work"} {
		m, err := meter.Rewrite(readFile(t, "testdata/"+name+".wasm"), generous)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(hash, "%s %q %q %d\n%s", name, m.Globals, m.Unrestorable, len(m.Bytes), m.Bytes)
	}
	if got := fmt.Sprintf("%d %x", meter.Revision, hash.Sum(nil)); got != written {
		t.Errorf("written %s, want %s: give meter.Revision its next number", got, written)
	}
}
