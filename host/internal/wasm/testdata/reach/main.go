// The module is a tool for tests. It does what its arguments say and answers with what it was given, or with the code
// of the refusal.
package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
)

type tool struct{}

type wish struct {
	Do      string
	Method  string
	URL     string
	Header  map[string]string
	Body    string
	Times   int
	Key     string
	Value   string
	Version *int64
}

func (tool) Call(ctx context.Context, call sdk.Call) (sdk.Result, error) {
	var w wish
	if err := json.Unmarshal(call.Args, &w); err != nil {
		return sdk.Result{}, err
	}
	var text string
	var err error
	for range max(w.Times, 1) {
		if text, err = w.grant(ctx); err != nil {
			break
		}
	}
	var refusal *sdk.Refusal
	if errors.As(err, &refusal) {
		return sdk.Result{Content: refusal.Code, IsError: true}, nil
	}
	return sdk.Result{Content: text}, err
}

func (w wish) grant(ctx context.Context) (string, error) {
	kv := guest.KV{}
	switch w.Do {
	case "send":
		response, err := guest.Send(ctx, sdk.HTTPRequest{Method: w.Method, URL: w.URL, Header: w.Header, Body: []byte(w.Body)})
		return string(response.Body), err
	case "set":
		if w.Version != nil {
			_, err := kv.SetIf(ctx, w.Key, []byte(w.Value), *w.Version)
			return "", err
		}
		return "", kv.Set(ctx, w.Key, []byte(w.Value))
	case "get":
		value, _, err := kv.Get(ctx, w.Key)
		return string(value), err
	case "delete":
		return "", kv.Delete(ctx, w.Key)
	case "grow":
		return "", kv.Set(ctx, w.Key, make([]byte, len(w.Value)*100))
	}
	return "", errors.New("nothing to do")
}

func init() { guest.ServeTool(tool{}) }

func main() {}
