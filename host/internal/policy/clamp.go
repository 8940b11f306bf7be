package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// ErrTampered reports that a scope plugin changed an argument that is not about scope.
var ErrTampered = errors.New("scope plugin changed other arguments")

// The arguments that bound what a tool reads. The host owns them: it computes their values itself.
const (
	keyKnowledge  = "knowledge_base_ids"
	keyKnowledge1 = "knowledge_base_id"
	keySources    = "source_item_ids"
	keySource1    = "source_item_id"
	keyRefs       = "source_refs"
	keyRef1       = "source_ref"
	keyScopeMode  = "scope_mode"
	keyMode       = "mode" // inside scope only
	keyScope      = "scope"
)

var scopeKeys = [...]string{
	keyKnowledge, keyKnowledge1, keySources, keySource1, keyRefs, keyRef1, keyScopeMode, keyScope,
}

// unverifiable arguments may name things outside a scope, and nothing here can tell.
var unverifiable = [...]string{
	"document_ids", "document_id", "chunk_ids", "chunk_id", "entity_ids", "entity_id", "job_ids", "job_id",
}

func isScopeKey(key string) bool { return foldedIn(scopeKeys[:], key) }

// Clamp bounds a call's arguments to a scope: "the model cannot widen the selected KB/source scope". It is the
// host's own second computation after a scope plugin has answered. It starts from the model's arguments: every
// argument that is not about scope or identity must be in the plugin's answer as the model wrote it, else
// ErrTampered; every other is set to what the host computes, whatever the plugin says. The result is canonical, and
// clamping it again changes nothing unless the outcome is Empty.
func Clamp(
	tool run.Tool, modelArgs, pluginArgs json.RawMessage, scope sdk.Scope, identity sdk.Identity,
) (json.RawMessage, run.ScopeOutcome, error) {
	asked, err := decodeObject(modelArgs)
	if err != nil {
		return nil, run.ScopeOutcome{}, err
	}
	c := newClamp(tool, asked, scope)
	below := deeper{c, identity}
	rest := below.rest(asked)
	if err := sameBeyondScope(asked, rest, pluginArgs); err != nil {
		return nil, run.ScopeOutcome{}, err
	}
	bounded := c.bind(below, rest)
	bindIdentity(bounded, asked, c.shape, identity)
	if nested, isObject := bounded[keyScope].(map[string]any); isObject {
		bindIdentity(nested, c.askedScope, shape{closed: c.nested.closed}, identity)
	}
	args, err := run.Encode(bounded)
	if err != nil {
		return nil, run.ScopeOutcome{}, err
	}
	return args, c.outcome, nil
}

// sameBeyondScope compares the arguments that a scope plugin has no business with. It may leave them as the model
// wrote them, or take out what the host takes out.
func sameBeyondScope(asked, rest map[string]any, pluginArgs json.RawMessage) error {
	answered, err := decodeObject(pluginArgs)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTampered, err)
	}
	got, err := run.Encode(beyondScope(answered))
	if err != nil {
		return err
	}
	for _, allowed := range []map[string]any{beyondScope(asked), rest} {
		want, err := run.Encode(allowed)
		if err != nil {
			return err
		}
		if bytes.Equal(want, got) {
			return nil
		}
	}
	return ErrTampered
}

func beyondScope(args map[string]any) map[string]any {
	free := make(map[string]any, len(args))
	for key, value := range args {
		if !isScopeKey(key) && !isIdentityKey(key) {
			free[key] = value
		}
	}
	return free
}

// clamp is one computation. asked is never changed.
type clamp struct {
	scope      sdk.Scope
	asked      map[string]any
	askedScope map[string]any // asked.scope when it is an object, else empty
	shape      shape
	nested     shape // of the scope property
	outcome    run.ScopeOutcome

	sources   []string // effective; nil when not bounded
	knowledge []string // effective; nil when not bounded
}

func newClamp(tool run.Tool, asked map[string]any, scope sdk.Scope) *clamp {
	c := &clamp{scope: scope, asked: asked, shape: shapeOf(tool.Schema), knowledge: scope.KnowledgeBaseIDs}
	c.askedScope, _ = asked[keyScope].(map[string]any)
	c.nested = shapeOf(c.shape.properties[keyScope])
	return c
}

// bind adds the bounds to the rest of the arguments, identity left out, and fills the outcome.
func (c *clamp) bind(below deeper, bounded map[string]any) map[string]any {
	c.narrow()
	placed := c.place(bounded, c.asked, c.shape, keyScopeMode)
	if c.wantsNested(placed) {
		nested := c.nestedRest(below)
		if c.place(nested, c.askedScope, c.nested, keyMode) {
			placed = true
		}
		if _, present := c.askedScope[keyScopeMode]; present && c.nested.takes(keyScopeMode) {
			nested[keyScopeMode] = string(c.scope.Mode)
		}
		bounded[keyScope] = nested
	}
	c.outcome.Applied = placed && (c.bounds() || c.shape.takes(keyScopeMode))
	c.listUnverified("", c.asked)
	c.listUnverified(keyScope+".", c.askedScope)
	slices.Sort(c.outcome.Narrowed)
	c.outcome.Narrowed = slices.Compact(c.outcome.Narrowed)
	return bounded
}

// wantsNested reports whether args.scope is sent: the model wrote one, or the tool has no other place for the bounds.
func (c *clamp) wantsNested(placedAbove bool) bool {
	if c.askedScope != nil && c.shape.takes(keyScope) {
		return true
	}
	if !c.shape.declaresObject(keyScope) {
		return false
	}
	_, replaced := c.asked[keyScope]
	return replaced || !placedAbove || !c.declaresBounds()
}

// declaresBounds reports whether the schema names every bounded dimension outside scope.
func (c *clamp) declaresBounds() bool {
	return (c.knowledge == nil || c.shape.declares(keyKnowledge)) &&
		(c.scope.SourceItemIDs == nil || c.shape.declares(keySources))
}

// nestedRest is what the model wrote in scope beside the bounds.
func (c *clamp) nestedRest(below deeper) map[string]any {
	rest := below.rest(c.askedScope)
	for key := range rest {
		if foldedIn([]string{keyMode}, key) {
			delete(rest, key)
		}
	}
	return rest
}
