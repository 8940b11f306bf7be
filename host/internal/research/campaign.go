package research

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/run"
)

// settleTimeout bounds the record of a result whose request may be over.
const settleTimeout = 10 * time.Second

// Campaign admits work under a grant, carries it out and stores what came of it. It is stored before anything leaves,
// so that no action is ever contacted twice; once it is, it is carried out whether or not the caller still waits.
func (d *Desk) Campaign(ctx context.Context, workspace string, asked Launch) (Snapshot, error) {
	if err := asked.check(); err != nil {
		return Snapshot{}, err
	}
	of, err := requested(workspace, run.ResearchCampaign, asked.Key, []any{asked.GrantID, asked.InputRevision, asked.ActionIDs})
	if err != nil {
		return Snapshot{}, err
	}
	admitted, err := d.admit(ctx, of, asked)
	switch {
	case errors.Is(err, errReplayed):
		err = d.awaitCampaign(ctx, of)
	case err == nil:
		err = d.carryOut(context.WithoutCancel(ctx), workspace, admitted)
	}
	if err != nil {
		return Snapshot{}, err
	}
	return d.Snapshot(ctx, workspace)
}

// admit stores a campaign. Its calls are under way from the moment before, so that nobody takes them for lost.
func (d *Desk) admit(ctx context.Context, of run.ResearchEntry, asked Launch) (campaignBody, error) {
	if err := d.replayed(ctx, of); err != nil {
		return campaignBody{}, err
	}
	revision, err := d.revisionNow(ctx, of.Workspace)
	if err != nil {
		return campaignBody{}, err
	}
	body := campaignBody{CampaignID: run.NewUUID(), GrantID: asked.GrantID}
	for _, id := range asked.ActionIDs {
		body.Calls = append(body.Calls, callOfBody{ActionID: id, CallID: run.NewUUID()})
	}
	d.begin(body)
	err = d.add(ctx, of, func(s state) (any, error) {
		if err := s.launchable(asked, revision, d.now()); err != nil {
			return nil, err
		}
		if len(s.campaigns) >= d.cfg.Limits.Campaigns {
			return nil, refuse(CodeLimit, "The plan has as many campaigns as it may have.")
		}
		body.PlanID = s.plan.PlanID
		return body, nil
	})
	if err != nil {
		d.end(body)
	}
	return body, err
}

// carryOut makes the calls of a campaign, one after the other, and stores each result before the next call.
func (d *Desk) carryOut(ctx context.Context, workspace string, c campaignBody) error {
	defer d.end(c)
	for _, call := range c.Calls {
		result, err := d.contactOf(ctx, workspace, c, call)
		if err != nil {
			return err
		}
		if result.Reason != "" {
			d.cfg.Log.Warn("research action failed", slog.String("campaign", c.CampaignID), slog.String("reason", result.Reason))
		}
		if err := d.settle(ctx, workspace, result); err != nil {
			d.cfg.Log.Error("research result not stored", slog.String("campaign", c.CampaignID), slog.Any("error", err))
			return err
		}
	}
	return nil
}

// contactOf makes the call of one action through the gate, with the approval that its grant is, and nothing else.
func (d *Desk) contactOf(ctx context.Context, workspace string, c campaignBody, one callOfBody) (resultBody, error) {
	result := resultBody{PlanID: c.PlanID, CampaignID: c.CampaignID, ActionID: one.ActionID, Status: ResultFailed}
	s, err := d.load(ctx, workspace)
	if err != nil {
		return result, err
	}
	action, planned := s.action(one.ActionID)
	grant, granted := s.grant(c.GrantID)
	covered, covers := grant.covers(one.ActionID)
	switch {
	case !planned || !granted || !covers || s.plan.PlanID != c.PlanID:
		result.Reason = "plan_replaced"
		return result, nil
	case action.Contact == ContactNone:
		result.Status = ResultUnavailable
		return result, nil
	}
	call, err := s.contactCall(workspace, action)
	if err != nil {
		return result, err
	}
	call.Fence.ID, call.ID = c.CampaignID, one.CallID
	door := d.cfg.Door()
	outcome := door.Do(ctx, door.Check(ctx, call), grant.approval(call, covered))
	return s.resultOf(result, action, outcome), nil
}

// approval is what a person's grant is to the gate: a yes to one call, with the digests of the moment in which it was
// given.
func (g grantRecord) approval(call run.Call, covered coveredBody) *run.Approval {
	return &run.Approval{
		ID: g.GrantID, Run: call.Fence.Ref, UserKey: call.Identity.UserKey, ToolCallID: call.ID, ToolName: ToolContact,
		Args: call.Args, ArgsDigest: covered.ArgsDigest, ToolDigest: covered.ToolDigest, Status: run.Approved,
		CreatedAt: g.at, ExpiresAt: g.ExpiresAt, ResolvedAt: &g.at, ResolvedBy: "grant",
	}
}

// resultOf reads what came of a call.
func (s state) resultOf(result resultBody, action actionBody, outcome run.CallOutcome) resultBody {
	if outcome.Denied != "" {
		result.Reason = string(outcome.Denied)
		return result
	}
	var reply reply
	if err := json.Unmarshal([]byte(outcome.Content), &reply); err != nil {
		result.Contacted, result.Reason = true, reasonNoAnswer // the call left, and what became of it is not known
		return result
	}
	result.Contacted, result.Reason = reply.Contacted, reply.Reason
	if reply.Reason == "" && !outcome.IsError {
		result.Status, result.Digest, result.Excerpt = s.compared(action, reply.Digest), reply.Digest, reply.Excerpt
	}
	return result
}

// settle stores a result. Of a plan that was replaced meanwhile nobody will ask.
func (d *Desk) settle(ctx context.Context, workspace string, result resultBody) error {
	ctx, stop := context.WithTimeout(ctx, settleTimeout)
	defer stop()
	of := run.ResearchEntry{Workspace: workspace, Kind: run.ResearchResult}
	err := d.add(ctx, of, func(s state) (any, error) {
		if s.plan.PlanID != result.PlanID || s.ran(result.ActionID) {
			return nil, errReplayed
		}
		return result, nil
	})
	if errors.Is(err, errReplayed) {
		return nil
	}
	return err
}

// contactCall is the call of an action as the gate sees it. Everything in it comes from the plan.
func (s state) contactCall(workspace string, action actionBody) (run.Call, error) {
	args, err := s.contactArgs(action)
	if err != nil {
		return run.Call{}, fmt.Errorf("encode contact: %w", err)
	}
	call := run.CallIn(workspace, ToolContact)
	call.Tool, call.Args = ToolContact, args
	call.Timeout = time.Duration(action.MaxActiveMS)*time.Millisecond + time.Second
	return call, nil
}

// contactArgs are the arguments of an action's call, canonical.
func (s state) contactArgs(action actionBody) (json.RawMessage, error) {
	raw, err := json.Marshal(contactArgs{
		ActionID: action.ActionID, CapabilityID: action.CapabilityID, ProviderID: action.ProviderID, Subject: action.Subject,
		Question: s.plan.Question, MaxResponseBytes: action.MaxResponseBytes, MaxActiveMS: action.MaxActiveMS,
	})
	if err != nil {
		return nil, err
	}
	return run.Canonical(raw)
}
