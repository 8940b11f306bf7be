package harness

import (
	"context"

	"github.com/fastreact/fastreact/host/internal/release"
)

// withOpinion lends the guards and, where it is wished for, the model's second opinion behind them.
func (h *Harness) withOpinion(cfg Config, system string) release.Guards {
	if cfg.SecondOpinion == nil {
		return cfg.Guards
	}
	opinion := release.SecondOpinion{System: system, Ask: h.asking(cfg)}
	return func() ([]release.Guard, func()) {
		guards, giveBack := cfg.Guards()
		if len(guards) == 0 {
			return nil, giveBack // a model alone releases nothing
		}
		return append(guards[:len(guards):len(guards)], opinion), giveBack
	}
}

// asking asks where all guarded runs ask, and within the time of one model call.
func (h *Harness) asking(cfg Config) release.Ask {
	return func(ctx context.Context, system, question string) (answer string, err error) {
		ctx, stop := context.WithTimeout(ctx, cfg.ModelTimeout)
		defer stop()
		said := make(chan string, 1)
		err = h.model.Do(ctx, func(ctx context.Context) error {
			text, err := cfg.SecondOpinion(ctx, system, question)
			said <- text
			return err
		})
		if err != nil {
			return "", err
		}
		return <-said, nil
	}
}
