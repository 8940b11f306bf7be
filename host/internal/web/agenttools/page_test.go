package agenttools_test

import (
	"testing"

	"github.com/fastreact/fastreact/testdata/pagetest"
)

func TestThePageMakesNoMarkupOfText(t *testing.T) {
	pagetest.MakesNoMarkup(t, "page")
}

func TestTheModulesOfThePageKeepTheTypesTheyDeclare(t *testing.T) {
	t.Parallel()
	pagetest.KeepsItsTypes(t, pagetest.Bench(t, "page", "testdata"), "app.js")
}
