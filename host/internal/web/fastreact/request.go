package fastreact

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
)

// Bounds of the texts in a request, in characters.
const (
	maxKey   = web.MaxKey
	maxModel = 256
)

// maxMetadata bounds the client's own metadata, in bytes of JSON: every list of runs and traces carries it.
const maxMetadata = 64 << 10

const (
	runIDPattern     = `^[A-Za-z0-9._:-]{1,128}$`
	sessionIDPattern = `^[!-~]{1,200}$` // it travels in a header
)

// asked is a decoded request for a run.
type asked struct {
	request run.Request
	stream  bool
}

// readRequest decodes and validates the body of a chat or a run.
func (f *face) readRequest(x *web.Exchange, kind run.Kind) (asked, error) {
	object, err := x.Object()
	if err != nil {
		return asked{}, err
	}
	a, err := f.parseRequest(object, x.Behalf())
	if err != nil {
		return asked{}, err
	}
	if err := x.Admit(a.request.Identity.UserKey, a.request.Identity.TenantKey); err != nil {
		return asked{}, err
	}
	a.request.Kind = kind
	a.request.StreamDeltas = a.request.StreamDeltas && (a.stream || kind != run.Chat) // nobody reads the parts of a summary
	if a.request.Idempotency, err = readIdempotency(x.Request.Header, kind, object); err != nil {
		return asked{}, err
	}
	if a.request.ID == "" {
		a.request.ID = run.NewID("run-")
	}
	if a.request.SessionID == "" {
		a.request.SessionID = run.NewID("session-")
	}
	return a, nil
}

// parseRequest turns a body into a request. A nil object is an empty body.
func (f *face) parseRequest(object map[string]any, by web.Behalf) (asked, error) {
	if object == nil {
		return asked{}, web.Invalid(web.FieldError{Type: "missing", Loc: []any{"body"}, Msg: "Field required"})
	}
	fields := web.NewFields(object)
	metadata := fields.Inside("metadata")
	if contradicted(by, fields, metadata) {
		return asked{}, web.Impersonation()
	}
	a := asked{stream: or(fields.Flag("stream"), f.cfg.DefaultStream)}
	a.request = run.Request{
		ID:            metadata.Matching("run_id", regexp.MustCompile(runIDPattern)),
		Messages:      readMessages(fields),
		Model:         fields.Word("model", maxModel),
		Options:       readOptions(fields),
		Identity:      readIdentity(fields, metadata, by),
		Skills:        fields.Texts("skills"),
		ToolPolicy:    f.readBounds(fields, metadata),
		Metadata:      encodeMetadata(fields, metadata),
		Detached:      fields.OneOf("on_disconnect", "cancel", "continue") == "continue",
		StreamDeltas:  or(fields.Flag("stream_deltas"), false),
		SessionMemory: or(metadata.Flag("session_memory"), false),
		Multitask:     readMultitask(fields, metadata),
	}
	if fields.Raw("session_id") != "" {
		a.request.SessionID = fields.Matching("session_id", regexp.MustCompile(sessionIDPattern))
	}
	if err := fields.Err(); err != nil {
		return asked{}, err
	}
	return a, checkQuestion(a.request.Messages)
}

func or(flag *bool, otherwise bool) bool {
	if flag == nil {
		return otherwise
	}
	return *flag
}

func readOptions(fields web.Fields) run.ModelOptions {
	return run.ModelOptions{
		Temperature: fields.Between("temperature", 0, 2),
		TopP:        fields.Between("top_p", 0, 1),
		MaxTokens:   fields.Positive("max_tokens"),
	}
}

func (f *face) readToolPolicy(fields web.Fields) run.ToolPolicy {
	if !fields.Has("tool_policy") {
		return run.ToolPolicy{}
	}
	if f.cfg.ParseToolPolicy == nil {
		fields.Fault("value_error", "This service takes no tool policy", "tool_policy")
		return run.ToolPolicy{}
	}
	policy, faults := f.cfg.ParseToolPolicy(fields.Raw("tool_policy"))
	for _, fault := range faults {
		fields.Fault(fault.Type, fault.Msg, "tool_policy", fault.Loc...)
	}
	return policy
}

// encodeMetadata returns the client's own metadata, numbers as written.
func encodeMetadata(fields, metadata web.Fields) json.RawMessage {
	if metadata.Object() == nil {
		return nil
	}
	encoded, err := run.Encode(metadata.Object())
	switch {
	case err != nil:
		fields.Fault("value_error", "Input could not be kept", "metadata")
	case len(encoded) > maxMetadata:
		fields.Fault("value_error", "Metadata should be at most 65536 bytes", "metadata")
	}
	return encoded
}

// checkQuestion holds the rule that "messages must include a non-empty user message".
func checkQuestion(messages []run.Message) error {
	for _, message := range messages {
		if message.Role == run.User && strings.TrimSpace(message.Content) != "" {
			return nil
		}
	}
	return web.BadRequest("no_user_message", "The messages hold no user message with text.")
}
