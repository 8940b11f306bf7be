// Command pska-kb is a small, real knowledge server over a folder of Markdown notes. It speaks MCP over stdio or
// streamable HTTP and offers tools with PSKA's names and shapes, so that FastReAct can be tried and tested without
// PSKA. It decides for itself what a user may see, and writes nothing unless a flag names a file.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

//go:embed notes
var embedded embed.FS

type options struct {
	addr, log, notes, db string
}

func main() {
	var o options
	flag.StringVar(&o.addr, "http", "", "serve streamable HTTP at this address under /mcp instead of stdio")
	flag.StringVar(&o.log, "log", "", "append the params of every received tools/call to this file, one JSON line each")
	flag.StringVar(&o.notes, "notes", "", "folder of Markdown notes (default: the notes built in)")
	flag.StringVar(&o.db, "db", "", "SQLite file to keep the index in (default: memory)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "pska-kb:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	folder, err := fs.Sub(embedded, "notes")
	if o.notes != "" {
		folder, err = os.DirFS(o.notes), nil
	}
	if err != nil {
		return err
	}
	notes, err := readNotes(folder)
	if err != nil {
		return err
	}
	store, err := openStore(ctx, o.db, notes)
	if err != nil {
		return err
	}
	defer func() { _ = store.close() }()
	calls, err := openCallLog(o.log)
	if err != nil {
		return err
	}
	defer func() { _ = calls.close() }()
	tools := newServer(store)
	if o.addr != "" {
		return serveHTTP(ctx, o.addr, tools, calls)
	}
	return server.NewStdioServer(tools).Listen(ctx, calls.tapLines(os.Stdin), os.Stdout)
}

func serveHTTP(ctx context.Context, addr string, tools *server.MCPServer, calls *callLog) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", calls.tapRequests(server.NewStreamableHTTPServer(tools)))
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	slog.Info("listening", slog.String("url", "http://"+listener.Addr().String()+"/mcp"))
	stopped := context.AfterFunc(ctx, func() { _ = web.Close() })
	defer stopped()
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
