package workbench

import (
	"bytes"
	"context"
	"time"

	"github.com/fastreact/fastreact/host/internal/wasm"
	"github.com/fastreact/fastreact/sdk"
)

// reply is what one call gave.
type reply struct {
	answer []byte
	err    error
	gas    int64
	output []byte // what the guest logged and wrote to its standard streams
	took   time.Duration
}

// code is the stable code of a call that failed, or nothing.
func (r reply) code() string {
	if r.err == nil {
		return ""
	}
	return codeOf(r.err)
}

// mostOutput is how much of what a plugin writes its author sees.
const mostOutput = 64 << 10

// transcript keeps the first bytes of what a guest writes. One goroutine uses it.
type transcript struct{ text bytes.Buffer }

// Write implements io.Writer. It never fails.
func (t *transcript) Write(text []byte) (int, error) {
	t.text.Write(text[:min(len(text), mostOutput-t.text.Len())])
	return len(text), nil
}

// ask carries one operation through the plugin host.
func ask(ctx context.Context, p *wasm.Plugin, op sdk.Op, cc wasm.CallContext, input []byte) reply {
	var spent wasm.Spent
	var output transcript
	cc.Spent, cc.Output = &spent, &output
	began := time.Now()
	answer, err := p.Exchange(ctx, op, cc, input)
	took := time.Since(began)
	return reply{
		answer: bytes.TrimSpace(answer), err: err, gas: spent.Gas, output: output.text.Bytes(), took: took,
	}
}
