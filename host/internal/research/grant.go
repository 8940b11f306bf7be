package research

import (
	"context"
	"errors"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Grant keeps what a person decided about the present plan, and makes a grant for the actions that were selected. Only
// a face that knows that a person asks may call it; no tool does. Nobody is contacted by it.
//
// The grant is bound to the arguments and to the tool, its providers included, as they are at this moment.
func (d *Desk) Grant(ctx context.Context, workspace string, asked Decision) (Snapshot, error) {
	if err := asked.check(); err != nil {
		return Snapshot{}, err
	}
	of, err := requested(workspace, run.ResearchGrant, asked.Key, []any{
		asked.PlanID, asked.InputRevision, list(asked.SelectedActionIDs), asked.Decisions, list(asked.Exclusions),
	})
	if err != nil {
		return Snapshot{}, err
	}
	if err := d.grant(ctx, of, asked); err != nil && !errors.Is(err, errReplayed) {
		return Snapshot{}, err
	}
	return d.Snapshot(ctx, workspace)
}

func (d *Desk) grant(ctx context.Context, of run.ResearchEntry, asked Decision) error {
	if err := d.replayed(ctx, of); err != nil {
		return err
	}
	revision, err := d.revisionNow(ctx, of.Workspace)
	if err != nil {
		return err
	}
	return d.add(ctx, of, func(s state) (any, error) {
		if err := s.grantable(asked, revision); err != nil {
			return nil, err
		}
		if s.decisions >= d.cfg.Limits.Grants {
			return nil, refuse(CodeLimit, "The plan has as many grants as it may have.")
		}
		return d.granted(ctx, of.Workspace, s, asked)
	})
}

// granted is the entry of a decision that the rules have passed.
func (d *Desk) granted(ctx context.Context, workspace string, s state, asked Decision) (grantBody, error) {
	body := grantBody{PlanID: asked.PlanID, Choices: []choiceBody{}, Covers: []coveredBody{}}
	for _, c := range asked.Decisions {
		body.Choices = append(body.Choices, choiceBody(c))
	}
	for _, id := range asked.SelectedActionIDs {
		covered, err := d.bound(ctx, workspace, s, id)
		if err != nil {
			return grantBody{}, err
		}
		body.Covers = append(body.Covers, covered)
	}
	if len(body.Covers) > 0 {
		body.GrantID, body.ExpiresAt = run.NewUUID(), d.now().Add(d.cfg.GrantTTL)
	}
	return body, nil
}

// bound asks the gate what would be called for an action, and binds the grant to that.
func (d *Desk) bound(ctx context.Context, workspace string, s state, id string) (coveredBody, error) {
	action, _ := s.action(id)
	if action.Contact == ContactNone {
		return coveredBody{ActionID: id}, nil
	}
	call, err := s.contactCall(workspace, action)
	if err != nil {
		return coveredBody{}, err
	}
	verdict := d.cfg.Door().Check(ctx, call)
	if verdict.Denied() {
		return coveredBody{}, refused("The rules of this service deny an action of the grant.")
	}
	return coveredBody{ActionID: id, ArgsDigest: verdict.ArgsDigest(), ToolDigest: verdict.Tool().Digest}, nil
}

// Revoke ends a grant of the present plan at once. Revoking it again changes nothing.
func (d *Desk) Revoke(ctx context.Context, workspace, grantID string) (Snapshot, error) {
	if grantID == "" || len(grantID) > maxKey {
		return Snapshot{}, invalid("A revocation names a grant.")
	}
	of := run.ResearchEntry{Workspace: workspace, Kind: run.ResearchRevocation}
	err := d.add(ctx, of, func(s state) (any, error) {
		grant, exists := s.grant(grantID)
		switch {
		case !exists:
			return nil, refused("There is no such grant of the present plan.")
		case grant.revokedAt != nil:
			return nil, errReplayed
		}
		return revocationBody{PlanID: s.plan.PlanID, GrantID: grantID}, nil
	})
	if err != nil && !errors.Is(err, errReplayed) {
		return Snapshot{}, err
	}
	return d.Snapshot(ctx, workspace)
}
