package wasm

import (
	"context"
	"io"
	"log/slog"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// callLog collects what one call writes to fastreact:log, up to a budget that its standard streams share. The text is
// logged once, at debug level only, when the call did not end abnormally. Of the streams only the size is logged: a
// guest that panics writes there, with whatever it holds. One goroutine uses it.
type callLog struct {
	log      *slog.Logger
	plugin   string
	limit    int                 // bytes
	hide     func(string) string // takes out what must not be seen; nil hides nothing
	author   io.Writer           // hears everything, for who tries the plugin out; nil for nobody
	text     []byte
	streamed int64 // bytes of the standard streams
	cut      bool
}

// write takes text for the log, and the end of its line. What goes over the budget is dropped.
func (l *callLog) write(text []byte) {
	if l.room() == 0 {
		l.cut = true
		return
	}
	kept := text[:l.fits(len(text))]
	l.text = append(append(l.text, kept...), '\n')
	l.tell(kept, []byte("\n"))
}

// Write implements io.Writer for the standard streams. It never fails.
func (l *callLog) Write(text []byte) (int, error) {
	kept := text[:l.fits(len(text))]
	l.streamed += int64(len(kept))
	l.tell(kept)
	return len(text), nil
}

// fits returns how much of so many bytes the budget allows.
func (l *callLog) fits(size int) int {
	room := l.room()
	l.cut = l.cut || size > room
	return min(size, room)
}

func (l *callLog) room() int { return max(l.limit-len(l.text)-int(l.streamed), 0) }

func (l *callLog) tell(parts ...[]byte) {
	if l.author == nil {
		return
	}
	for _, part := range parts {
		_, _ = l.author.Write(part) // what he does not hear is his loss
	}
}

// flush logs what was written. broken tells that the call ended abnormally.
func (l *callLog) flush(broken bool) {
	if len(l.text) > 0 && !broken && l.log.Enabled(context.Background(), slog.LevelDebug) {
		text := string(l.text)
		if l.hide != nil {
			text = l.hide(text)
		}
		l.log.Debug("plugin wrote", slog.String("plugin", l.plugin), slog.String("text", text))
	}
	if l.streamed > 0 {
		l.log.Debug("plugin wrote to its standard streams", slog.String("plugin", l.plugin), slog.Int64("bytes", l.streamed))
	}
	if l.cut {
		l.log.Warn("plugin log was cut at its limit", slog.String("plugin", l.plugin), slog.Int("limit", l.limit))
	}
}

// serveLog instantiates fastreact:log/1. write takes UTF-8 text; it answers 0 whatever happens, so that a pure guest
// learns nothing from it.
func serveLog(ctx context.Context, runtime wazero.Runtime) error {
	write := func(ctx context.Context, guest api.Module, stack []uint64) {
		text, ok := guest.Memory().Read(uint32(stack[0]), uint32(stack[1]))
		stack[0] = 0
		if ok {
			visitOf(ctx).log.write(text)
		}
	}
	_, err := runtime.NewHostModuleBuilder(moduleLog).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(write), []api.ValueType{api.ValueTypeI32, api.ValueTypeI32}, []api.ValueType{api.ValueTypeI64}).
		Export("write").Instantiate(ctx)
	return err
}
