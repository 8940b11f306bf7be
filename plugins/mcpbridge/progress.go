package mcpbridge

import (
	"strconv"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/fastreact/fastreact/sdk"
)

// maxProgressText bounds what one notice of progress may say.
const maxProgressText = 4 << 10

// listeners are the calls of one session that hear of their progress. A token belongs to one call and dies with it: a
// notice for any other is dropped, so that no call hears of another one.
type listeners struct {
	mu      sync.Mutex
	byToken map[string]func(sdk.Progress)
}

// listen registers a call and returns its token, and the function that ends it.
func (l *listeners) listen(call int64, hear func(sdk.Progress)) (token string, stop func()) {
	token = "call-" + strconv.FormatInt(call, 10)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byToken == nil {
		l.byToken = map[string]func(sdk.Progress){}
	}
	l.byToken[token] = hear
	return token, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.byToken, token)
	}
}

// tell hands a notice to its call.
func (l *listeners) tell(notice mcp.JSONRPCNotification) {
	fields := notice.Params.AdditionalFields
	token, _ := fields["progressToken"].(string)
	l.mu.Lock()
	hear := l.byToken[token]
	l.mu.Unlock()
	if hear == nil {
		return
	}
	text, _ := fields["message"].(string)
	hear(sdk.Progress{
		Text: strings.ToValidUTF8(clip(text, maxProgressText), ""), Done: number(fields["progress"]), Total: number(fields["total"]),
	})
}

func number(value any) *float64 {
	if n, is := value.(float64); is {
		return &n
	}
	return nil
}
