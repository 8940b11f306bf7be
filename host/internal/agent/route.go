package agent

import (
	"cmp"
	"context"
	"slices"

	"github.com/fastreact/fastreact/host/internal/executor"
	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
)

var errNoProfile = &run.Error{
	Code: run.CodeInternal, Op: "adopt profile", Sentence: "The service does not know this kind of run.",
}

// settleProfile makes the run one of its profile: the one that its first event names, else the one that is asked for
// or that its router names. routed is what finding out took; nil when the model was not asked.
func (d *drive) settleProfile(ctx context.Context) (routed *run.Usage, err error) {
	if d.story.started {
		return nil, d.adopt(d.story.opening.Profile)
	}
	if err := d.adopt(d.run.Request.Profile); err != nil || d.profile.Router == nil {
		return nil, err
	}
	return d.route(ctx)
}

// adopt makes the run one of a profile. The empty name is the agent's own kind of run.
func (d *drive) adopt(name string) error {
	profile, known := d.cfg.Profiles[name]
	if name == "" {
		profile, known = Profile{System: d.cfg.System}, true
	}
	if !known {
		return errNoProfile
	}
	profile.Name = name
	profile.MaxIterations = cmp.Or(profile.MaxIterations, d.cfg.MaxIterations)
	profile.MaxToolCalls = cmp.Or(profile.MaxToolCalls, d.cfg.MaxToolCalls)
	if profile.Models == nil {
		profile.Models = inline{}
	}
	if profile.ToolSlots == nil {
		profile.ToolSlots = inline{}
	}
	d.profile, d.policy = profile, profile.bound(d.run.Request.ToolPolicy)
	return nil
}

// bound is what a run of the profile may do that asked for so much. What a request says of profiles counts nothing.
func (p Profile) bound(asked run.ToolPolicy) run.ToolPolicy {
	asked.Profile = p.Name
	if p.Name == "" {
		return asked
	}
	asked.Unattended = true
	allowed := slices.Sorted(slices.Values(p.Tools))
	switch asked.Mode {
	case run.Unrestricted:
		asked.Mode, asked.Allowed = run.Allowlist, allowed
	case run.Allowlist:
		asked.Allowed = slices.DeleteFunc(allowed, func(name string) bool { return !slices.Contains(asked.Allowed, name) })
	}
	return asked
}

// route lets the profile's router say which one the run goes on with.
func (d *drive) route(ctx context.Context) (*run.Usage, error) {
	var usage *run.Usage
	ask := func(ctx context.Context, system, question string) (string, error) {
		reply, err := d.consult(ctx, model.Request{
			Model: d.run.Request.Model, Options: d.run.Request.Options,
			Messages: []run.Message{{Role: run.System, Content: system}, {Role: run.User, Content: question}},
		}, nil)
		usage = sum(usage, reply.Usage)
		return reply.Text, err
	}
	var chosen string
	err := executor.Contain(func() (err error) {
		chosen, err = d.profile.Router.Route(ctx, ask, d.run.Request.Query())
		return err
	})
	if err == nil && chosen != "" {
		err = d.adopt(chosen)
	} else if err == nil {
		err = errNoProfile
	}
	if err != nil {
		return nil, unroutable(err)
	}
	return usage, nil
}

// unroutable is how a run ends whose router failed. That there is no room to ask the model is no fault of the question.
func unroutable(reason error) error {
	if run.IsCode(reason, run.CodeModelSaturated) {
		return reason
	}
	return &run.Error{
		Code: run.CodeRouting, Op: "route run", Cause: reason, Sentence: "The question could not be taken up.",
	}
}
