package host

import (
	"log/slog"

	"github.com/fastreact/fastreact/host/internal/model"
)

// newModel returns the configured model, or the scripted demo when no base URL is set.
func newModel(cfg ModelConfig, log *slog.Logger) model.Client {
	if cfg.BaseURL == "" {
		log.Warn("NO MODEL IS CONFIGURED: answers come from a built-in scripted demo, not from a language model. " +
			"Set model.base_url or FASTREACT_MODEL_BASE_URL")
		return model.NewDemo()
	}
	return openAI(cfg, log)
}

func modelName(cfg ModelConfig) string {
	if cfg.BaseURL == "" {
		return model.DemoName
	}
	return cfg.Name
}

// holdsSecret returns what tells whether a text would be masked.
func holdsSecret(cfg Config) func(text string) bool {
	mask := maskOf(cfg)
	return func(text string) bool { return mask.Text(text) != text }
}
