package agent

import "github.com/fastreact/fastreact/host/internal/run"

// Outcome says how a drive ended. The zero value is no outcome and comes with an error.
type Outcome int

// The two outcomes of a drive.
const (
	Finished Outcome = iota + 1 // the run is terminal
	Parked                      // the run waits for a person and nobody holds it
)

// Ending says how a run ends that will not be driven further.
type Ending struct {
	Status run.Status // run.Failed or run.Cancelled
	Code   run.Code
	Text   string // public sentence; empty means the one that goes with Status
	Reason string // short public word, such as client_disconnected
}
