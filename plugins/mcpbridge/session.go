package mcpbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/fastreact/fastreact/sdk"
)

// session is one live, initialized connection to a server. It sends requests as raw JSON-RPC: the library's typed
// ones lose parts of schemas, refuse whole results for one odd part, and have no place for an identity.
type session struct {
	wire    wire
	version string // negotiated protocol version
	replies replies
	hears   listeners
	lastID  atomic.Int64
	changed chan struct{} // the server says that its tools changed
	doubted chan struct{} // a call went unanswered: find out whether the server lives
	served  atomic.Bool   // it has answered a call
	tasks   sync.WaitGroup
}

const (
	firstID      = 1000 // above the ids of the handshake
	maxListBytes = 32 << 20
	maxListPages = 100
	noticeWait   = 2 * time.Second
)

func newSession(w wire, version string, r replies) *session {
	s := &session{wire: w, version: version, replies: r, changed: make(chan struct{}, 1), doubted: make(chan struct{}, 1)}
	s.lastID.Store(firstID)
	w.SetNotificationHandler(func(n mcp.JSONRPCNotification) {
		switch n.Method {
		case mcp.MethodNotificationToolsListChanged:
			raise(s.changed)
		case string(mcp.MethodNotificationProgress):
			s.hears.tell(n)
		}
	})
	return s
}

// raise sets a flag that stays set until it is read.
func raise(flag chan struct{}) {
	select {
	case flag <- struct{}{}:
	default: // it is set already
	}
}

func (s *session) alive() bool {
	select {
	case <-s.wire.dead():
		return false
	default:
		return true
	}
}

func (s *session) close() {
	_ = s.wire.Close()
	s.tasks.Wait()
}

// list returns every entry of tools/list as the server sent it.
func (s *session) list(ctx context.Context) ([]json.RawMessage, error) {
	var entries []json.RawMessage
	cursor, seen, size := "", map[string]bool{}, 0
	for range maxListPages {
		raw, err := s.request(ctx, mcp.MethodToolsList, listParams{Cursor: cursor, Meta: s.perRequestMeta()})
		if err != nil {
			return nil, fmt.Errorf("list tools: %w", err)
		}
		var page struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor string            `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, fmt.Errorf("list tools: %w: %w", errUnreadable, err)
		}
		if size += len(raw); size > maxListBytes {
			return nil, fmt.Errorf("list tools: %w", errTooLarge)
		}
		entries = append(entries, page.Tools...)
		if cursor = page.NextCursor; cursor == "" || seen[cursor] {
			return entries, nil
		}
		seen[cursor] = true
	}
	return entries, nil
}

// call sends one tools/call, and what the server asks for in between as far as that is answered. Progress goes to
// whoever listens behind ctx.
func (s *session) call(ctx context.Context, params callParams) (sdk.Result, error) {
	params.Meta = maps.Clone(params.Meta)
	maps.Copy(params.Meta, s.perRequestMeta())
	for range maxRounds {
		raw, err := s.callOnce(ctx, params)
		if err != nil {
			return sdk.Result{}, err
		}
		s.served.Store(true)
		asked, more := needsInput(raw)
		if !more {
			return readResult(raw)
		}
		if params.InputResponses, err = s.replies.toAll(asked.InputRequests); err != nil {
			return sdk.Result{}, err
		}
		params.RequestState = asked.RequestState
	}
	return sdk.Result{}, errNeedsInput
}

// callOnce sends a call, with a token of its own when somebody listens to its progress.
func (s *session) callOnce(ctx context.Context, params callParams) (json.RawMessage, error) {
	id := s.lastID.Add(1)
	if sdk.Heard(ctx) {
		token, stop := s.hears.listen(id, func(p sdk.Progress) { sdk.ReportProgress(ctx, p) })
		defer stop()
		params.Meta["progressToken"] = token
	}
	return s.requestAs(ctx, id, mcp.MethodToolsCall, params)
}

// ping reports whether the server still answers; any answer will do.
func (s *session) ping(ctx context.Context) error {
	_, err := s.request(ctx, mcp.MethodPing, listParams{Meta: s.perRequestMeta()})
	if _, answered := err.(*rpcError); answered {
		return nil
	}
	return err
}

func (s *session) request(ctx context.Context, method mcp.MCPMethod, params any) (json.RawMessage, error) {
	return s.requestAs(ctx, s.lastID.Add(1), method, params)
}

func (s *session) requestAs(ctx context.Context, id int64, method mcp.MCPMethod, params any) (json.RawMessage, error) {
	encoded, err := encode(params)
	if err != nil {
		return nil, &notSent{err}
	}
	request := transport.JSONRPCRequest{
		JSONRPC: mcp.JSONRPC_VERSION,
		ID:      mcp.NewRequestId(id),
		Method:  string(method),
		Params:  encoded,
		Header:  perRequestHeaders(s.version, string(method), encoded),
	}
	response, err := s.wire.SendRequest(ctx, request)
	switch {
	case err != nil && ctx.Err() != nil && !wasNotSent(err):
		s.sayCancelled(request.ID, errors.Is(err, errTimeout))
		return nil, err
	case err != nil:
		return nil, err
	case response.Error != nil:
		return nil, &rpcError{code: response.Error.Code, message: response.Error.Message}
	}
	return response.Result, nil
}

// sayCancelled tells the server, off the caller's path, that nobody waits for the answer any more. After a timeout it
// also has the session looked after.
func (s *session) sayCancelled(id mcp.RequestId, doubtful bool) {
	s.tasks.Go(func() {
		s.cancelRequest(id)
		if doubtful {
			raise(s.doubted)
		}
	})
}

func (s *session) cancelRequest(id mcp.RequestId) {
	if _, overHTTP := s.wire.(transport.HTTPConnection); overHTTP && mcp.IsModernProtocol(s.version) {
		return // closing the exchange has said it
	}
	notice := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{
		Method: string(mcp.MethodNotificationCancelled),
		Params: mcp.NotificationParams{AdditionalFields: map[string]any{"requestId": id, "reason": "no longer waited for"}},
	}}
	ctx, cancel := context.WithTimeout(context.Background(), noticeWait)
	defer cancel()
	_ = s.wire.SendNotification(ctx, notice) // best effort: the caller has left
}
