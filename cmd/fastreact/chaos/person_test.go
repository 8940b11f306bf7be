package chaos

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"sync"
)

// approval is a record as the wire shows it.
type approval struct {
	ID     string `json:"request_id"`
	Run    string `json:"run_id"`
	Status string `json:"status"`
	Kind   string `json:"kind"`
	Choice string `json:"choice"`
	Reason string `json:"resolution_reason"`
	Tool   string `json:"tool_name"`
	Args   struct {
		Step string `json:"step"`
	} `json:"tool_args"`
}

// unknown is the kind of an approval that asks what became of a call.
const unknown = "outcome_unknown"

// answer is what somebody said about an approval, and what was said to them.
type answer struct {
	word   string // approve or deny
	choice string
	status int
	stands string // status of the record in the answer
}

// people look for what waits, over any node, and answer each once; about every fifth is answered by two at once.
func (w *world) people(ctx context.Context) {
	dice := rand.New(rand.NewPCG(w.seed, 77))
	known := map[string]bool{}
	var answering sync.WaitGroup
	defer answering.Wait()
	for ctx.Err() == nil {
		var list struct{ Approvals []approval }
		if status, raw := w.ask(ctx, dice, "GET", "/v1/approvals?status=pending&limit=200", nil, ""); status == http.StatusOK {
			_ = json.Unmarshal(raw, &list)
		}
		for _, a := range list.Approvals {
			if known[a.ID] {
				continue
			}
			known[a.ID] = true
			w.count(func(t *tally) { t.asked(a) })
			for i := range 1 + min(1, dice.IntN(5)/4) {
				own := rand.New(rand.NewPCG(dice.Uint64(), uint64(i)))
				answering.Go(func() { w.answer(ctx, own, a) })
			}
		}
		pause(ctx, forGood)
	}
}

// answer decides about one approval and insists until somebody says what became of it.
func (w *world) answer(ctx context.Context, dice *rand.Rand, a approval) {
	said := answer{word: "approve"}
	switch {
	case a.Kind == unknown:
		said.choice = []string{"retry", "retry", "treat_as_done", "abort"}[dice.IntN(4)]
	case dice.IntN(6) == 0:
		said.word = "deny"
	}
	if said.choice == "abort" {
		said.word = "deny"
	}
	body := map[string]any{"reason": "chaos"}
	if said.choice != "" {
		body["choice"] = said.choice
	}
	key := a.ID + said.word + said.choice
	status, raw := w.insist(ctx, dice, "POST", "/v1/approvals/"+a.ID+"/"+said.word, body, key)
	if status == 0 {
		return
	}
	var got struct{ Status string }
	_ = json.Unmarshal(raw, &got)
	said.status, said.stands = status, got.Status
	if status != http.StatusOK && status != http.StatusConflict {
		w.violate("answer", "%s of %s: %d %s", said.word, a.ID, status, raw)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[a.ID] = append(w.answers[a.ID], said)
}
