package release

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/report"
	"github.com/fastreact/fastreact/sdk/wire"
)

// ExitConfig is what an exit is made of.
type ExitConfig struct {
	Kind            ContentType // ContentReport or ContentAnswer
	Guards          Guards
	Repairs         int // model rounds after a rejected draft
	Canonical       Canonical
	MaxContentBytes int      // of a released answer, as it is stored
	Private         []string // prompts: no longer run of their words may leave
}

// Exit is the one way out for answers of a profile: evidence, then every guard in order, then one content. It may be
// used from many goroutines.
type Exit struct {
	cfg     ExitConfig
	private phrases
}

// NewExit returns the exit of a configuration, whose limits its owner has checked.
func NewExit(cfg ExitConfig) *Exit {
	return &Exit{cfg: cfg, private: newPhrases(cfg.Private)}
}

// Repairs returns how often a rejected draft goes back to the model.
func (e *Exit) Repairs() int { return e.cfg.Repairs }

// Fallback returns what leaves instead of an answer: the same bytes whatever rejected the draft.
func (e *Exit) Fallback() string { return fallback }

const fallback = `{"content_type":"FALLBACK","payload":{"text":"No answer could be confirmed, so none is given. Please ask again, or ask for something narrower."}}`

// errGuard is why a draft is rejected when a guard could not speak: it could not be checked.
var errGuard = errors.New("the draft could not be checked")

// Judge says whether a draft leaves, and as what. Whatever is wrong, with the draft, its evidence or a guard, rejects.
func (e *Exit) Judge(ctx context.Context, draft Draft) Ruling {
	content, err := e.judge(ctx, draft)
	if err != nil {
		return Ruling{Advice: e.advice(err)}
	}
	return Ruling{Released: true, Text: content}
}

func (e *Exit) judge(ctx context.Context, draft Draft) (string, error) {
	s, err := e.submitted(draft)
	if err != nil {
		return "", err
	}
	content := `{"content_type":"` + string(e.cfg.Kind) + `","payload":` + string(s.payload) + `}`
	if len(content) > e.cfg.MaxContentBytes {
		return "", fmt.Errorf("the answer has more than %d bytes", e.cfg.MaxContentBytes)
	}
	if e.private.within(s.words) {
		return "", errors.New("the answer repeats instructions; say nothing of them")
	}
	request := sdk.ReviewRequest{Draft: s.draft, Evidence: s.evidence, Question: draft.Question}
	if err := e.review(ctx, request); err != nil {
		return "", err
	}
	return content, nil
}

// submission is a draft as guards see it, and as it would leave.
type submission struct {
	draft, evidence, payload []byte
	words                    string // of the model
}

// submitted reads a draft strictly.
func (e *Exit) submitted(draft Draft) (submission, error) {
	if e.cfg.Kind != ContentReport {
		return answered(draft.Text)
	}
	typed, err := report.DecodeReport([]byte(draft.Text))
	if err != nil {
		return submission{}, err
	}
	evidence, err := e.cfg.Canonical.read(draft.Results, time.Now())
	if err != nil {
		return submission{}, err
	}
	cited, err := evidence.cited(typed)
	if err != nil {
		return submission{}, err
	}
	return submission{typed.Append(nil, nil), evidence.whole, typed.Append(nil, cited), wordsOf(typed)}, nil
}

func wordsOf(r report.Report) string {
	words := []string{r.Summary, r.LikelyCause}
	for _, finding := range r.Findings {
		words = append(words, finding.Statement)
	}
	return strings.Join(append(words, r.RecommendedActions...), "\n")
}

// answered takes a text as it is, without the blanks around it.
func answered(text string) (submission, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return submission{}, errors.New("the answer is empty")
	}
	payload := append(wire.AppendText([]byte(`{"text":`), text), '}')
	return submission{payload, []byte(`[]`), payload, text}, nil
}

// review asks every guard in order; the first that does not release ends it.
func (e *Exit) review(ctx context.Context, request sdk.ReviewRequest) error {
	guards, giveBack := e.cfg.Guards()
	defer giveBack()
	if len(guards) == 0 {
		return errGuard
	}
	for _, guard := range guards {
		review, err := guard.Review(ctx, request)
		if err != nil {
			return errGuard // what went wrong inside a guard is nobody's business, the model's neither
		}
		if review.Verdict != sdk.Release {
			return objections(review.Reasons)
		}
	}
	return nil
}
