package pskaworker

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// batchOf reads a batch from a PSKA that answers its pages so.
func batchOf(t *testing.T, most int, answer func(page int) string) (batch, error) {
	t.Helper()
	w := newWorld(t)
	pages := 0
	w.answers["GET /digest/batches/j"] = func() (int, string) {
		pages++
		return http.StatusOK, answer(pages)
	}
	far, err := newPSKA(w.config.complete())
	if err != nil {
		t.Fatal(err)
	}
	return far.batch(t.Context(), Job{ID: "j", Batch: "j"}, most)
}

func TestABatchIsReadHoweverItsPagesAreWritten(t *testing.T) {
	for _, first := range []string{
		`{"items":[1],"next_cursor":"2","has_more":true}`, `{"items":[1],"next_cursor":2}`, `{"sources":[1],"next":"2"}`,
		`{"batch":{"items":[1],"next_cursor":"2"}}`,
	} {
		whole, err := batchOf(t, 100, func(page int) string {
			if page == 1 {
				return first
			}
			return `{"items":[2,3],"next_cursor":null,"batch":null}`
		})
		if err != nil || whole.total != 3 || whole.pages != 2 {
			t.Errorf("%s: %+v %v", first, whole, err)
		}
	}
}

func TestItemsBeyondTheLimitAreCountedOnly(t *testing.T) {
	whole, err := batchOf(t, 10, func(int) string { return `["1234567","1234567","1"]` })
	if err != nil || len(whole.items) != 1 || whole.total != 3 {
		t.Errorf("%+v %v", whole, err)
	}
	text, err := question(Job{ID: "j"}, whole)
	if err != nil || !strings.Contains(text, "3 items. 2 further items did not fit") {
		t.Errorf("%s %v", text, err)
	}
}

func TestABatchWithoutEndIsGivenUp(t *testing.T) {
	for name, answer := range map[string]func(int) string{
		"the same cursor": func(int) string { return `{"items":[],"next_cursor":"x"}` },
		"ever new ones":   func(page int) string { return fmt.Sprintf(`{"items":[],"next_cursor":"%d"}`, page) },
	} {
		if _, err := batchOf(t, 10, answer); err == nil || !strings.Contains(err.Error(), "batch_endless") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnAnswerThatIsTooLongCountsAsNone(t *testing.T) {
	long := `{"items":["` + strings.Repeat("x", maxAnswer) + `"]}`
	if _, err := batchOf(t, 10, func(int) string { return long }); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("%v", err)
	}
}
