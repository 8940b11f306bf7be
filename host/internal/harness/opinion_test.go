package harness

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/fastreact/fastreact/host/internal/release"
	"github.com/fastreact/fastreact/sdk"
)

// willing releases everything.
type willing struct{}

func (willing) Review(context.Context, sdk.ReviewRequest) (sdk.Review, error) {
	return sdk.Review{Verdict: sdk.Release}, nil
}

// opined returns what the last guard says when the model answers so.
func opined(t *testing.T, ask release.Ask) (guards int, review sdk.Review, err error) {
	cfg := small()
	cfg.SecondOpinion = ask
	cfg.Guards = func() ([]release.Guard, func()) { return []release.Guard{willing{}}, func() {} }
	h := built(t, cfg)
	lent, giveBack := h.withOpinion(cfg, "check")()
	defer giveBack()
	review, err = lent[len(lent)-1].Review(t.Context(), sdk.ReviewRequest{Question: "why?"})
	return len(lent), review, err
}

func TestTheSecondOpinionIsAskedLastAndCanOnlyReject(t *testing.T) {
	for said, want := range map[string]sdk.GuardVerdict{"RELEASE": sdk.Release, "REJECT": sdk.Repair, "": sdk.Repair, "RELEASE it": sdk.Repair} {
		guards, review, err := opined(t, func(_ context.Context, system, _ string) (string, error) {
			if system != "check" {
				t.Errorf("asked under %q", system)
			}
			return said, nil
		})
		if guards != 2 || review.Verdict != want || err != nil {
			t.Errorf("%q: %d guards, %q, %v", said, guards, review.Verdict, err)
		}
	}
}

func TestASecondOpinionThatCannotBeHadIsAnError(t *testing.T) {
	broken := errors.New("no model")
	if _, review, err := opined(t, func(context.Context, string, string) (string, error) { return "RELEASE", broken }); !errors.Is(err, broken) || review.Verdict != "" {
		t.Errorf("%q, %v", review.Verdict, err)
	}
}

func TestASecondOpinionThatTakesTooLongIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, review, err := opined(t, func(ctx context.Context, _, _ string) (string, error) {
			<-ctx.Done()
			return "RELEASE", nil
		})
		if !errors.Is(err, context.DeadlineExceeded) || review.Verdict != "" {
			t.Errorf("%q, %v", review.Verdict, err)
		}
	})
}

func TestWithoutGuardsThereIsNoSecondOpinionEither(t *testing.T) {
	cfg := small()
	cfg.SecondOpinion = func(context.Context, string, string) (string, error) { return "RELEASE", nil }
	if lent, _ := built(t, cfg).withOpinion(cfg, "check")(); len(lent) != 0 {
		t.Errorf("%d guards", len(lent))
	}
}
