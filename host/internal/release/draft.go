package release

import (
	"context"

	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// Draft is an answer that nobody has seen yet, with everything it is judged by.
type Draft struct {
	Run      run.Run
	Question string
	Text     string      // the model's last words, as they are
	Round    int         // from 1; each repair adds one
	Results  []run.Event // the run's tool_result events so far, whole and in order
}

// Ruling says what becomes of a draft. The zero value releases nothing. Every rejection has the same shape, whatever
// rejected the draft: only Advice differs, which nobody but the model reads.
type Ruling struct {
	Released bool
	Text     string // when released: the JSON object {"content_type":…,"payload":…} that is stored and leaves
	Advice   string // when not released: what the model is told to mend
}

// Guard reviews a draft. A guard that returns an error, or a review without one of the three verdicts, rejects it.
type Guard interface {
	Review(ctx context.Context, request sdk.ReviewRequest) (sdk.Review, error)
}

// Guards lends the guards that are in force, in the order in which they are asked. Whoever borrowed them calls
// giveBack once, after the last review; until then a reload does not end them.
type Guards func() (guards []Guard, giveBack func())

// ContentType says what the payload of an answer is.
type ContentType string

// The content types that leave.
const (
	ContentAnswer   ContentType = "ANSWER"           // {"text":…}
	ContentReport   ContentType = "DIAGNOSIS_REPORT" // a typed report with the evidence it cites
	ContentFallback ContentType = "FALLBACK"         // {"text":…}, always the same
)
