package model

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Ping asks the vendor for its list of models, once. nil means that the address answers and does not refuse the key;
// a vendor that keeps no such list is fine. The error's public sentence says what to look at.
func (o *OpenAI) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.cfg.FirstByte, errFirstByte)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(o.cfg.BaseURL, "/")+"/models", nil)
	if err != nil {
		return unreachable("The model's base URL is not one.", fmt.Errorf("ping model: %w", err))
	}
	if o.cfg.APIKey != "" {
		request.Header.Set("Authorization", "Bearer "+o.cfg.APIKey)
	}
	response, err := o.http.Do(request)
	if err != nil {
		return unreachable("The model's address does not answer.", fmt.Errorf("ping model: %w", err))
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.CopyN(io.Discard, response.Body, maxPing)
	switch {
	case response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden:
		return &run.Error{
			Code: run.CodeModelRefused, Sentence: "The model's address refuses the API key.", Op: "ping model",
			Cause: fmt.Errorf("ping model: %s", response.Status),
		}
	case response.StatusCode >= http.StatusInternalServerError:
		return unreachable("The model's address answers with a server error.", fmt.Errorf("ping model: %s", response.Status))
	}
	return nil
}

const maxPing = 1 << 20

func unreachable(sentence string, cause error) error {
	return &run.Error{Code: run.CodeModelUnavailable, Sentence: sentence, Op: "ping model", Cause: cause}
}
