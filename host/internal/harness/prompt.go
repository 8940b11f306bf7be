package harness

import (
	_ "embed" // the prompts
)

//go:embed prompts/router.md
var routerPrompt string

//go:embed prompts/diagnosis.md
var diagnosisPrompt string

//go:embed prompts/general.md
var generalPrompt string

//go:embed prompts/opinion.md
var opinionPrompt string

// told is what the models are told.
type told struct{ router, diagnosis, general, opinion string }

func prompts() told { return told{routerPrompt, diagnosisPrompt, generalPrompt, opinionPrompt} }
