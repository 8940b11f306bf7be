package gateway

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sequences(page Page) []int64 {
	list := []int64{}
	for _, e := range page.Events {
		list = append(list, e.Sequence)
	}
	return list
}

func TestACursorReadsOnlyWhatCameAfterIt(t *testing.T) {
	g := newWorld(t).open()
	mustCall(t, g, search())
	for cursor, want := range map[int64][]int64{
		-5: {1, 2, 3}, 0: {1, 2, 3}, 1: {2, 3}, 2: {3}, 3: {}, 4: {}, 1 << 62: {},
	} {
		page := g.Events(cursor)
		if diff := cmp.Diff(want, sequences(page)); diff != "" || page.Cursor != 3 || page.Gap {
			t.Errorf("after %d: cursor %d, gap %v (-want +got):\n%s", cursor, page.Cursor, page.Gap, diff)
		}
	}
}

func TestAnInstanceWithoutEventsHasTheCursorZero(t *testing.T) {
	w := newWorld(t)
	w.cfg.Active = ""
	if diff := cmp.Diff(Page{Events: []Event{}}, w.open().Events(0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnEventCarriesItsTimeInUTCAndItsReferences(t *testing.T) {
	w := newWorld(t)
	w.cfg.Clock = func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("east", 3600)) }
	g := w.open()
	mustCall(t, g, search())
	events := g.Events(0).Events
	if at := events[0].At.Format("2006-01-02T15:04:05Z07:00"); at != "2026-03-04T04:06:07Z" {
		t.Errorf("time = %s", at)
	}
	if diff := cmp.Diff([]string{node}, events[2].ObjectRefs); diff != "" || len(events[0].ObjectRefs) > 0 {
		t.Errorf("references: requested %v, completed (-want +got):\n%s", events[0].ObjectRefs, diff)
	}
}

func TestThe129thEventPushesTheFirstOutAndSaysSo(t *testing.T) {
	g := newWorld(t).open()
	for range 42 {
		mustCall(t, g, search())
	}
	if page := g.Events(0); len(page.Events) != 126 || page.Gap {
		t.Fatalf("%d events, gap %v", len(page.Events), page.Gap)
	}
	mustCall(t, g, search())
	page := g.Events(0)
	if len(page.Events) != 128 || page.Events[0].Sequence != 2 || page.Cursor != 129 || !page.Gap {
		t.Errorf("%d events from %d, cursor %d, gap %v", len(page.Events), page.Events[0].Sequence, page.Cursor, page.Gap)
	}
	if g.Events(1).Gap {
		t.Errorf("whoever read the first event is told that it missed one")
	}
}
