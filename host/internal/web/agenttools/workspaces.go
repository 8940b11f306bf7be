package agenttools

import (
	"slices"

	"github.com/fastreact/fastreact/host/internal/run"
)

func (v *visit) getSession() (reply, error) { return done(v.sessionDocument()), nil }

// activate makes a workspace the active one. What the other left in memory is gone with it.
func (v *visit) activate() (reply, error) {
	if err := v.cfg.Gateway.Activate(v.vars[0]); err != nil {
		return reply{}, err
	}
	return done(v.sessionDocument()), nil
}

func (v *visit) sessionDocument() sessionDocument {
	document := sessionDocument{
		Contract: sessionContract, CSRF: v.session.csrf, Origin: v.origin(), WorkspaceState: noWorkspace,
		Workspaces: append([]string{}, slices.Clone(v.cfg.Gateway.Workspaces())...), InstanceID: v.sessions.instance,
		ExpiresAt: run.Stamp(v.session.ends),
	}
	if active := v.cfg.Gateway.Active(); active != "" {
		document.WorkspaceState, document.ActiveWorkspaceID = readyWorkspace, &active
	}
	return document
}
