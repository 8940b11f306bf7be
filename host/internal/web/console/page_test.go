package console_test

import (
	"strings"
	"testing"

	"github.com/fastreact/fastreact/testdata/pagetest"
)

func TestThePageTakesTheStreamOfTheContractAndNothingElse(t *testing.T) {
	t.Parallel()
	pagetest.Run(t, 40, pagetest.Bench(t, "page", "testdata"), "protocol.mjs")
}

func TestThePageAsksInOnePlaceAndOverTheStreamOnly(t *testing.T) {
	requests := 0
	for name, text := range pagetest.Scripts(t, "page") {
		requests += strings.Count(text, `"/api/chat"`)
		for _, forbidden := range []string{"chat_stream", ".json(", "EventSource", "XMLHttpRequest", "WebSocket"} {
			if strings.Contains(text, forbidden) {
				t.Errorf("%s has %s", name, forbidden)
			}
		}
	}
	if requests != 1 {
		t.Errorf("the page asks in %d places, want one", requests)
	}
}

func TestThePageMakesNoMarkupOfText(t *testing.T) {
	pagetest.MakesNoMarkup(t, "page")
}

func TestTheModulesOfThePageKeepTheTypesTheyDeclare(t *testing.T) {
	t.Parallel()
	pagetest.KeepsItsTypes(t, pagetest.Bench(t, "page", "testdata"), "app.js")
}
