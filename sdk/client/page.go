package client

import (
	"context"
	"encoding/json"
	"time"
)

// PageCode is the way into the service's page for a browser.
type PageCode struct {
	Code      string     `json:"code"`       // works once; empty where the service asks nobody for a credential
	Path      string     `json:"path"`       // to open in a browser, behind the base URL
	ExpiresAt *time.Time `json:"expires_at"` // nil where there is no code

	Raw json.RawMessage `json:"-"` // as the service sent it
}

// PageCode asks for a one-time code for the page. The login that comes of it is the user's; with no user it asks as the
// holder of the service token does.
func (c *Client) PageCode(ctx context.Context, userKey string) (PageCode, error) {
	body := struct {
		UserKey string `json:"user_key,omitempty"`
	}{userKey}
	var code PageCode
	raw, err := c.post(ctx, "/v1/ui/codes", body, &code)
	code.Raw = raw
	return code, err
}
