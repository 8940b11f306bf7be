package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/fastreact/fastreact/host/internal/failpoint"
	"github.com/fastreact/fastreact/host/internal/run"
)

// outcomeTimeout bounds what is still done about a call that came back when its own context is over: its result is read,
// and because it did run the books say so.
const outcomeTimeout = 10 * time.Second

// recordDecision commits what was decided. dispatched says that the call leaves next.
func (g *Gate) recordDecision(ctx context.Context, v Verdict, approval *run.Approval, dispatched bool) error {
	decision, err := json.Marshal(v.decision)
	if err != nil {
		return fmt.Errorf("encode decision: %w", err)
	}
	record := g.recordOf(v, run.Decided)
	record.Decision, record.Dispatched = decision, dispatched
	if approval != nil {
		record.ApprovalID = approval.ID
	}
	if err := g.commit(ctx, v.call, record); err != nil {
		return fmt.Errorf("record decision: %w", err)
	}
	return nil
}

// recordOutcome writes what came back. Whoever keeps a run commits its record with the result, so that nothing comes
// between them. Of a call that belongs to no run it is noted here: the call cannot be taken back, so a failure is only
// logged; the decision record already says that it left.
func (g *Gate) recordOutcome(ctx context.Context, v Verdict, outcome *run.CallOutcome) {
	record := g.recordOf(v, run.Ended)
	record.IsError, record.Duration, record.Gas = outcome.IsError, outcome.Duration, outcome.Gas
	record.ResultDigest = run.Digest([]byte(outcome.Content))
	if !v.call.Unkept {
		outcome.Record = &record
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), outcomeTimeout)
	defer stop()
	if err := g.cfg.Recorder.Note(ctx, record); err != nil {
		g.cfg.Log.Error("outcome not recorded", slog.String("tool", v.tool.Name), slog.Any("error", err))
	}
}

// commit stores a decision under the fence of the call's run. Of a call that belongs to none it makes a note: there is no
// claim that could be over.
func (g *Gate) commit(ctx context.Context, call run.Call, record run.Audit) error {
	switch {
	case call.Unkept:
		return g.cfg.Recorder.Note(ctx, record)
	case record.Dispatched && failpoint.Off("dispatched"):
		return nil
	}
	return g.cfg.Recorder.Record(ctx, call.Fence, record)
}

func (g *Gate) recordOf(v Verdict, stage run.AuditStage) run.Audit {
	return run.Audit{
		At: g.cfg.Clock().UTC(), Stage: stage, Run: v.call.Fence.Ref, CallID: v.call.ID,
		UserKey: v.call.Identity.UserKey, Tool: v.call.Tool, ToolDigest: v.tool.Digest, ArgsDigest: v.ArgsDigest(),
	}
}
