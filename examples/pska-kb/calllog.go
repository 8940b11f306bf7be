package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
)

// callLog sees every message before the server does. It writes the params of each tools/call to a file, as canonical
// JSON and as received, and moves the identity that stands beside the arguments into _meta, where handlers find it.
type callLog struct {
	mu   sync.Mutex
	file *os.File // nil = write nothing
}

func openCallLog(path string) (*callLog, error) {
	if path == "" {
		return &callLog{}, nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open call log: %w", err)
	}
	return &callLog{file: file}, nil
}

func (l *callLog) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// tap returns the message as the server shall see it.
func (l *callLog) tap(message []byte) ([]byte, error) {
	var envelope map[string]any
	decoder := json.NewDecoder(bytes.NewReader(message))
	decoder.UseNumber()
	if decoder.Decode(&envelope) != nil || envelope["method"] != "tools/call" {
		return message, nil
	}
	params, isObject := envelope["params"].(map[string]any)
	if !isObject {
		return message, nil
	}
	if err := l.write(params); err != nil {
		return nil, err
	}
	moveIdentity(params)
	return canonical(envelope)
}

func moveIdentity(params map[string]any) {
	for _, key := range []string{"user_key", "tenant_key"} {
		value, given := params[key]
		if !given {
			continue
		}
		meta, isObject := params["_meta"].(map[string]any)
		if !isObject {
			meta = map[string]any{}
			params["_meta"] = meta
		}
		meta[key] = value
	}
}

func (l *callLog) write(params map[string]any) error {
	if l.file == nil {
		return nil
	}
	line, err := canonical(params)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write call log: %w", err)
	}
	return nil
}

// canonical writes a decoded value with sorted keys, no white space, and numbers as received.
func canonical(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return bytes.TrimRight(buffer.Bytes(), "\n"), nil
}

// tapLines taps a stream of one message per line. The stream ends with in.
func (l *callLog) tapLines(in io.Reader) io.Reader {
	out, pipe := io.Pipe()
	go func() {
		reader := bufio.NewReader(in)
		for {
			line, err := reader.ReadBytes('\n')
			if len(line) > 0 {
				line, tapErr := l.tap(bytes.TrimRight(line, "\r\n"))
				if _, writeErr := pipe.Write(append(line, '\n')); tapErr != nil || writeErr != nil {
					pipe.CloseWithError(tapErr)
					return
				}
			}
			if err != nil {
				pipe.CloseWithError(err)
				return
			}
		}
	}()
	return out
}

const maxRequest = 16 << 20

func (l *callLog) tapRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err == nil {
			body, err = l.tap(body)
		}
		if err != nil {
			http.Error(w, "request cannot be read", http.StatusBadRequest)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		next.ServeHTTP(w, r)
	})
}
