package guest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/wire"
)

func TestNativeSendAsksTheTransportOfTheTest(t *testing.T) {
	ctx := WithTransport(t.Context(), func(_ context.Context, request sdk.HTTPRequest) (sdk.HTTPResponse, error) {
		return sdk.HTTPResponse{Status: 200, Body: []byte(request.URL)}, nil
	})
	response, err := Send(ctx, sdk.HTTPRequest{URL: "https://api.example/"})
	if diff := cmp.Diff(sdk.HTTPResponse{Status: 200, Body: []byte("https://api.example/")}, response); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := Send(t.Context(), sdk.HTTPRequest{}); !errors.Is(err, errNoTransport) {
		t.Error(err)
	}
}

func TestRequestIsWrittenAsTheHostReadsIt(t *testing.T) {
	for _, body := range []string{"", "text \" \\ é", "\xff\x00"} {
		var got struct {
			Method, URL string
			Headers     map[string]string
			Body        string
			BodyBase64  []byte `json:"body_base64"`
		}
		text := writeHTTP(sdk.HTTPRequest{Method: "POST", URL: "u", Header: map[string]string{"A\"": "b", "C": "d"}, Body: []byte(body)})
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if got.Method != "POST" || got.URL != "u" || got.Headers["A\""] != "b" || got.Headers["C"] != "d" || got.Body+string(got.BodyBase64) != body {
			t.Errorf("%s", text)
		}
	}
}

func TestAnswerOfTheHostIsRead(t *testing.T) {
	response, err := readHTTP([]byte(`{"status":404,"headers":{"content-type":"a"},"body_base64":"/wA=","more":[1]}`))
	want := sdk.HTTPResponse{Status: 404, Header: map[string]string{"content-type": "a"}, Body: []byte("\xff\x00")}
	if diff := cmp.Diff(want, response); diff != "" || err != nil {
		t.Error(diff, err)
	}
	_, err = readHTTP([]byte(`{"error":{"code":"egress_timeout","message":"Too slow."}}`))
	var refusal *sdk.Refusal
	if !errors.As(err, &refusal) || refusal.Code != "egress_timeout" || err.Error() != "egress_timeout: Too slow." {
		t.Error(err)
	}
	if _, err = readHTTP(nil); err == nil {
		t.Error("no answer is an answer")
	}
}

func TestNativeKVKeepsValues(t *testing.T) {
	ctx, kv := WithMemory(t.Context()), KV{}
	if value, version, err := kv.Get(ctx, "k"); len(value) > 0 || version != 0 || err != nil {
		t.Error(value, version, err)
	}
	version, err := kv.SetIf(ctx, "k", []byte("1"), 0)
	if err != nil {
		t.Fatal(err)
	}
	var refusal *sdk.Refusal
	if _, err := kv.SetIf(ctx, "k", []byte("2"), 0); !errors.As(err, &refusal) || refusal.Code != "kv_conflict" {
		t.Error(err)
	}
	if err := kv.Set(ctx, "k", []byte("\xff")); err != nil {
		t.Error(err)
	}
	if value, newer, err := kv.Get(ctx, "k"); string(value) != "\xff" || newer <= version || err != nil {
		t.Error(value, newer, err)
	}
	if err := errors.Join(kv.Delete(ctx, "k"), kv.Delete(ctx, "k")); err != nil {
		t.Error(err)
	}
	if _, version, _ := kv.Get(ctx, "k"); version != 0 {
		t.Error("it is still there")
	}
	if err := kv.Set(t.Context(), "k", nil); !errors.Is(err, errNoMemory) {
		t.Error(err)
	}
}

func FuzzBase64IsTheStandardOne(f *testing.F) {
	f.Add([]byte("\xff\x00a"))
	f.Fuzz(func(t *testing.T, value []byte) {
		want := base64.StdEncoding.EncodeToString(value)
		if got := string(appendBase64(nil, value)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		r := wire.NewReader([]byte(`"` + want + `"`))
		if got := fromBase64(r); !bytes.Equal(got, value) || r.End() != nil {
			t.Errorf("%q became %q", value, got)
		}
	})
}
