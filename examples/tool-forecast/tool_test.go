package main

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/guest"
)

func TestForecastIsAskedForAndCounted(t *testing.T) {
	ctx := guest.WithMemory(guest.WithTransport(t.Context(), func(_ context.Context, r sdk.HTTPRequest) (sdk.HTTPResponse, error) {
		if r.URL != "https://weather.example/v1?place=Port+Isaac" || r.Header["Authorization"] != "Bearer secret://weather-key" {
			t.Errorf("asked %+v", r)
		}
		return sdk.HTTPResponse{Status: 200, Body: []byte("Rain.")}, nil
	}))
	for _, want := range []string{"Rain.\n(question 1)", "Rain.\n(question 2)"} {
		got, err := tools{}.Call(ctx, sdk.Call{Tool: "forecast", Args: json.RawMessage(`{"place":"Port Isaac"}`)})
		if err != nil || got.Content != want || got.IsError {
			t.Errorf("%+v (%v), want %q", got, err, want)
		}
	}
}

func TestRefusalIsASentenceForTheModel(t *testing.T) {
	ctx := guest.WithTransport(t.Context(), func(context.Context, sdk.HTTPRequest) (sdk.HTTPResponse, error) {
		return sdk.HTTPResponse{}, &sdk.Refusal{Code: "http_denied", Message: "not granted"}
	})
	got, err := tools{}.Call(ctx, sdk.Call{Tool: "forecast", Args: json.RawMessage(`{"place":"Harwich"}`)})
	if err != nil || !got.IsError || got.Content != "The forecast cannot be had: not granted" {
		t.Errorf("%+v (%v)", got, err)
	}
}
