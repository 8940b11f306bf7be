// Command tool-forecast is a tool plugin that leaves the sandbox through two doors: the host sends its request and puts
// the secret into it, and keeps a count for each tenant.
package main

import (
	"context"
	"errors"
	"net/url"
	"strconv"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
)

// tools answers the manifest's tools. Each call is a fresh instance; what must last lies in the host's store.
type tools struct{}

// Call asks the weather service. It never sees the key: the host puts it in for the one host it belongs to.
func (tools) Call(ctx context.Context, call sdk.Call) (sdk.Result, error) {
	args, err := call.Arguments()
	if err != nil {
		return sdk.Result{Content: err.Error(), IsError: true}, nil
	}
	place, err := args.Text("place")
	if err != nil {
		return sdk.Result{Content: err.Error(), IsError: true}, nil
	}
	response, err := guest.Send(ctx, sdk.HTTPRequest{
		URL:    "https://weather.example/v1?place=" + url.QueryEscape(place),
		Header: map[string]string{"Authorization": "Bearer secret://weather-key"},
	})
	if refusal, refused := errors.AsType[*sdk.Refusal](err); refused {
		return sdk.Result{Content: "The forecast cannot be had: " + refusal.Message, IsError: true}, nil
	}
	if err != nil {
		return sdk.Result{}, err
	}
	if response.Status != 200 {
		return sdk.Result{Content: "The weather service answered with status " + strconv.Itoa(response.Status) + ".", IsError: true}, nil
	}
	asked, err := count(ctx)
	if err != nil {
		return sdk.Result{}, err
	}
	return sdk.Result{Content: string(response.Body) + "\n(question " + strconv.Itoa(asked) + ")"}, nil
}

// count adds one to the tenant's count.
func count(ctx context.Context) (int, error) {
	var kv guest.KV
	value, _, err := kv.Get(ctx, "asked")
	if err != nil {
		return 0, err
	}
	asked, _ := strconv.Atoi(string(value)) // nothing kept yet is 0
	asked++
	return asked, kv.Set(ctx, "asked", []byte(strconv.Itoa(asked)))
}

func main() {} // the host calls Call
