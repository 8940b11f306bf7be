package mcpbridge

import (
	"bufio"
	"context"
	"io"
	"log/slog"
)

const (
	maxStderrLine  = 1 << 10
	maxStderrLines = 500 // per life of a child; the rest is read and dropped
)

// drainStderr reads a child's error output to its end, so that the child never blocks on it, and logs the beginning
// of it, bounded and without the server's secrets, at debug level.
func drainStderr(from io.Reader, spec Server, log *slog.Logger) {
	mask := spec.masker()
	reader := bufio.NewReaderSize(from, maxStderrLine)
	continued := false
	for lines := 0; lines < maxStderrLines && log.Enabled(context.Background(), slog.LevelDebug); {
		line, isPrefix, err := reader.ReadLine()
		if err != nil {
			return
		}
		if !continued && len(line) > 0 {
			lines++
			log.Debug("mcp server wrote to its error output", slog.String("server", spec.Name), slog.String("line", printable(mask(string(line)))))
		}
		continued = isPrefix
	}
	_, _ = io.Copy(io.Discard, reader)
}
