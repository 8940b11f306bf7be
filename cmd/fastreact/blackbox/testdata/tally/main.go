// The module is a tool for tests. It fetches a URL with a secret and counts how often it did.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
)

type tool struct{}

func (tool) Call(ctx context.Context, call sdk.Call) (sdk.Result, error) {
	var args struct{ URL, Header string }
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return sdk.Result{}, err
	}
	count, err := tally(ctx)
	if err != nil {
		return sdk.Result{}, err
	}
	response, err := guest.Send(ctx, sdk.HTTPRequest{URL: args.URL, Header: map[string]string{"Authorization": args.Header}})
	var refusal *sdk.Refusal
	if errors.As(err, &refusal) {
		return sdk.Result{Content: refusal.Code, IsError: true}, nil
	}
	if err != nil {
		return sdk.Result{}, err
	}
	return sdk.Result{Content: "fetch " + strconv.Itoa(count) + ": " + string(response.Body)}, nil
}

// tally adds one to what is kept, whoever else does the same.
func tally(ctx context.Context) (int, error) {
	kv := guest.KV{}
	for {
		value, version, err := kv.Get(ctx, "count")
		if err != nil {
			return 0, err
		}
		count, _ := strconv.Atoi(string(value))
		_, err = kv.SetIf(ctx, "count", []byte(strconv.Itoa(count+1)), version)
		var refusal *sdk.Refusal
		if errors.As(err, &refusal) && refusal.Code == "kv_conflict" {
			continue
		}
		return count + 1, err
	}
}

func init() { guest.ServeTool(tool{}) }

func main() {}
