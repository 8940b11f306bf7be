package research

import (
	"context"
	"errors"
	"fmt"

	"github.com/fastreact/fastreact/host/internal/run"
)

// Prepare makes a new plan in place of the one before. It grants nothing and contacts nobody. A key that was used for
// the same request returns the research as it is now, and makes nothing.
func (d *Desk) Prepare(ctx context.Context, workspace string, p Preparation) (Snapshot, error) {
	if err := p.check(); err != nil {
		return Snapshot{}, err
	}
	of, err := requested(workspace, run.ResearchPlan, p.Key, []any{p.SelectionIDs, p.Question, list(p.Exclusions)})
	if err != nil {
		return Snapshot{}, err
	}
	if err := d.prepare(ctx, of, p); err != nil && !errors.Is(err, errReplayed) {
		return Snapshot{}, err
	}
	return d.Snapshot(ctx, workspace)
}

func (d *Desk) prepare(ctx context.Context, of run.ResearchEntry, p Preparation) error {
	if of.Workspace == "" {
		return refuse(CodeNoWorkspace, "No workspace is active.")
	}
	if err := d.replayed(ctx, of); err != nil {
		return err
	}
	revision, err := d.revisionOf(ctx, of.Workspace, p.SelectionIDs)
	if err != nil {
		return err
	}
	plan, err := draft(p, revision, d.providerIDs(), terms{d.cfg.Limits.ResponseBytes, d.cfg.Limits.Active})
	if err != nil {
		return err
	}
	return d.add(ctx, of, func(s state) (any, error) {
		plan.Known = s.learned()
		return plan, nil
	})
}

// revisionOf returns the revision of the graph in which all of these objects are.
func (d *Desk) revisionOf(ctx context.Context, workspace string, ids []string) (int64, error) {
	var revision int64
	for i, id := range ids {
		seen, known, err := d.look(ctx, workspace, id)
		switch {
		case err != nil:
			return 0, err
		case !known:
			return 0, &run.Error{
				Code: CodeRefused, Sentence: "An object of the selection is not in the workspace.", Op: "research", Cause: errUnknownObject,
			}
		case i > 0 && seen != revision:
			return 0, refused("The workspace has changed while the plan was made.")
		}
		revision = seen
	}
	return revision, nil
}

// look reads the graph. That it cannot be read is no fault of the request.
func (d *Desk) look(ctx context.Context, workspace, id string) (int64, bool, error) {
	revision, known, err := d.cfg.Look(ctx, workspace, id)
	if err != nil {
		return 0, false, &run.Error{
			Code: CodeUnavailable, Sentence: "The workspace's graph cannot be read.", Op: "research", Cause: err,
		}
	}
	return revision, known, nil
}

// revisionNow returns the revision of the graph as it is now, for the objects of the present plan.
func (d *Desk) revisionNow(ctx context.Context, workspace string) (int64, error) {
	s, err := d.load(ctx, workspace)
	if err != nil {
		return 0, err
	}
	if s.plan.PlanID == "" {
		return 0, refused("There is no plan.")
	}
	revision, known, err := d.look(ctx, workspace, s.plan.Selection[0])
	if err == nil && !known {
		err = refused("The workspace has changed since the plan was made.")
	}
	if err != nil {
		return 0, fmt.Errorf("compare the graph with the plan: %w", err)
	}
	return revision, nil
}

func (d *Desk) providerIDs() []string {
	ids := []string{}
	for _, p := range d.cfg.Providers {
		ids = append(ids, p.ID)
	}
	return ids
}
