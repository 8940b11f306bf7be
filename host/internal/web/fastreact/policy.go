package fastreact

import (
	"encoding/json"
	"net/http"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/host/internal/web"
	"github.com/fastreact/fastreact/sdk"
)

// Policy is the policy in force.
type Policy struct {
	Config  json.RawMessage // the rules as configured, a JSON object
	Hash    string          // of everything that decides
	Version string          // empty = the hash
	Reload  bool            // can be changed without a restart
	Plugins []run.PluginDigest
}

// Probe is a call that is judged and not made.
type Probe struct {
	Tool     string
	Args     json.RawMessage // a JSON object
	Identity sdk.Identity
}

type policyBody struct {
	Schema   string             `json:"schema"`
	Policy   json.RawMessage    `json:"policy"`
	Hash     string             `json:"policy_snapshot_hash"`
	Version  string             `json:"policy_version"`
	Reload   bool               `json:"reload_supported"`
	Actions  []sdk.Action       `json:"actions"`
	Priority []string           `json:"priority"`
	Tenant   string             `json:"tenant_inference"`
	Plugins  []run.PluginDigest `json:"plugins"`
}

func (f *face) policy(x *web.Exchange) error {
	policy, err := f.policySeenBy(x)
	if err != nil {
		return err
	}
	version := policy.Version
	if version == "" {
		version = policy.Hash
	}
	return x.JSON(http.StatusOK, policyBody{
		Schema: "fastreact.policy.v1", Policy: orObject(policy.Config), Hash: policy.Hash, Version: version,
		Reload: policy.Reload, Actions: sdk.Actions(),
		Priority: []string{"user_rules", "tenant_rules", "tool_rules", "default_action", "built_in_safety"},
		Tenant:   "prefix_before_colon_in_user_key", Plugins: orEmpty(policy.Plugins),
	})
}

type checkBody struct {
	ToolName             string          `json:"tool_name"`
	UserKey              *string         `json:"user_key"`
	TenantKey            *string         `json:"tenant_key"`
	Level                string          `json:"level"`
	Reason               string          `json:"reason"`
	PatternMatched       *string         `json:"pattern_matched"`
	PolicyScope          *string         `json:"policy_scope"`
	PolicyAction         *string         `json:"policy_action"`
	PolicyMatched        bool            `json:"policy_matched"`
	RequiresConfirmation bool            `json:"requires_confirmation"`
	ShouldAllow          bool            `json:"should_allow"`
	Chain                []run.ChainLink `json:"chain"`
}

func (f *face) checkPolicy(x *web.Exchange) error {
	probe, err := readProbe(x)
	if err != nil {
		return err
	}
	decision, err := f.cfg.Inspector.DryRun(x.Request.Context(), probe)
	if err != nil {
		return err
	}
	level := decision.Level()
	return x.JSON(http.StatusOK, checkBody{
		ToolName: probe.Tool, UserKey: orNull(probe.Identity.UserKey), TenantKey: orNull(probe.Identity.TenantKey),
		Level: string(level), Reason: decision.Reason, PatternMatched: orNull(decision.Pattern),
		PolicyScope: orNull(decision.PolicyScope), PolicyAction: orNull(string(decision.PolicyAction)),
		PolicyMatched: decision.PolicyMatched, RequiresConfirmation: level == run.Danger,
		ShouldAllow: level != run.Forbidden, Chain: orEmpty(decision.Chain),
	})
}

func readProbe(x *web.Exchange) (Probe, error) {
	object, err := x.Object()
	if err != nil {
		return Probe{}, err
	}
	fields := web.NewFields(object)
	if !fields.Has("tool_name") {
		fields.Missing("tool_name")
	}
	probe := Probe{Tool: fields.Word("tool_name", maxName), Args: json.RawMessage("{}")}
	if probe.Identity, err = readProbed(x, fields); err != nil {
		return Probe{}, err
	}
	if args := fields.Inside("tool_args").Object(); args != nil {
		if probe.Args, err = run.Encode(args); err != nil {
			fields.Fault("value_error", "Input could not be read", "tool_args")
		}
	}
	if err := fields.Err(); err != nil {
		return Probe{}, err
	}
	return probe, x.Admit(probe.Identity.UserKey, probe.Identity.TenantKey)
}

// readProbed finds out whose call is judged. A user may ask about itself only, an operator about anyone of its tenant.
func readProbed(x *web.Exchange, fields web.Fields) (sdk.Identity, error) {
	said, metadata := x.Behalf(), fields.Inside("metadata")
	if other := fields.Word("user_key", maxKey); x.Caller.Standing == web.Operator && said.Tenant != "" && other != "" {
		if other != said.User {
			said.User, said.Roles = other, nil
		}
	}
	if contradicted(said, fields, metadata) {
		return sdk.Identity{}, web.Impersonation()
	}
	identity := readIdentity(fields, metadata, said)
	if tenant := fields.Word("tenant_key", maxKey); tenant != "" {
		identity.TenantKey = tenant
	}
	return identity, nil
}
