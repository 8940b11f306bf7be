package ledgertest

import (
	"fmt"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
)

func logFacts() []fact {
	return []fact{
		{"SequencesStartAtZeroAndRunOn", sequencesRunOn},
		{"SixteenWritersOfOneRunLeaveNoGap", writersOfOneRunLeaveNoGap},
		{"SixteenWritersOfSixteenRunsLeaveNoGap", writersOfManyRunsLeaveNoGap},
		{"WriterSeesWhatReadersSee", writerSeesWhatReadersSee},
		{"EventsHaveTheLedgersTimeInMicroseconds", eventsHaveLedgerTime},
		{"ReaderPagesThroughTheLog", readerPages},
		{"UnknownRunHasNoEvents", unknownRunHasNoEvents},
		{"TenantsDoNotReadEachOthersLog", tenantsReadTheirOwn},
		{"EndedClaimIsFenced", endedClaimIsFenced},
		{"FenceWithoutAnOwnerIsNoFence", ownerlessFence},
		{"FenceOfAnotherTenantIsNoFence", foreignFence},
		{"EarlierEpochOfOneOwnerIsFenced", earlierEpochIsFenced},
	}
}

func think(text string) run.Event { return run.Event{Kind: run.Think, Content: text} }

// gapless demands that a run's log is whole, and returns how many events it has.
func (w *world) gapless(of run.Ref) int {
	w.Helper()
	events := w.events(of)
	for i, event := range events {
		if event.Sequence != int64(i) {
			w.Fatalf("event %d has sequence %d", i, event.Sequence)
		}
	}
	w.same("next sequence", int64(len(events)), w.get(of).NextSeq)
	return len(events)
}

func sequencesRunOn(w *world) {
	r := w.driven("r")
	w.append(r, ledger.Batch{Events: []run.Event{think("a"), think("b")}})
	events := w.append(r, ledger.Batch{Events: []run.Event{think("c")}})
	w.same("sequence", int64(2), events[0].Sequence)
	w.same("events", 3, w.gapless(r.Ref))
}

func writersOfOneRunLeaveNoGap(w *world) {
	r := w.driven("r")
	together(16, func(writer int) {
		for i := range 20 {
			batch := ledger.Batch{}
			for range 1 + i%3 {
				batch.Events = append(batch.Events, think(fmt.Sprintf("%d/%d", writer, i)))
			}
			events, err := w.Append(w.Context(), r.Fence(), batch)
			if err != nil {
				w.Error(err)
				return
			}
			if last := events[len(events)-1]; last.Sequence-events[0].Sequence != int64(len(events)-1) {
				w.Errorf("a batch lies apart: %d to %d", events[0].Sequence, last.Sequence)
			}
		}
	})
	w.same("events", 16*(7+14+18), w.gapless(r.Ref))
}

func writersOfManyRunsLeaveNoGap(w *world) {
	runs := make([]run.Run, 16)
	for i := range runs {
		runs[i] = w.driven(fmt.Sprintf("r%d", i))
	}
	together(len(runs), func(i int) {
		for range 30 {
			if _, err := w.Append(w.Context(), runs[i].Fence(), ledger.Batch{Events: []run.Event{think("x")}}); err != nil {
				w.Error(err)
			}
		}
	})
	for _, r := range runs {
		w.same("events", 30, w.gapless(r.Ref))
	}
}

func writerSeesWhatReadersSee(w *world) {
	r := w.driven("r")
	took := 1500 * time.Microsecond
	got := w.append(r, ledger.Batch{Events: []run.Event{
		{
			Kind: run.ToolResult, Content: "<b>", ToolName: "exec", ToolArgs: []byte(`{ "a" : 1.0 }`),
			ToolCallID: "call-1", Duration: &took, Citations: []string{"doc"}, ApprovalID: "approval-1",
			Metadata: []byte(`{"n":12345678901234567890}`), Memo: []byte(`{"m":"\u0000"}`), Sequence: 99,
		},
		{Kind: run.Errored, Content: "broken \xff\xfe bytes", Citations: []string{}},
	}})
	w.same("events", w.events(r.Ref), got)
	w.same("session", r.SessionID, got[0].SessionID)
}

func eventsHaveLedgerTime(w *world) {
	r := w.driven("r")
	w.clock.pass(1234567 * time.Nanosecond)
	got := w.append(r, ledger.Batch{Events: []run.Event{{Kind: run.Think, Time: time.Unix(1, 0)}}})
	w.same("time", w.clock.Now().Truncate(time.Microsecond), got[0].Time)
}

func readerPages(w *world) {
	r := w.driven("r")
	for range 5 {
		w.append(r, ledger.Batch{Events: []run.Event{think("x")}})
	}
	for _, c := range []struct {
		after int64
		limit int
		want  []int64
	}{{-1, 2, []int64{0, 1}}, {1, 2, []int64{2, 3}}, {3, 2, []int64{4}}, {4, 2, nil}, {-1, 0, nil}, {-1, -1, nil}} {
		events, err := w.Events(w.Context(), r.Ref, c.after, c.limit)
		w.must(err)
		var got []int64
		for _, event := range events {
			got = append(got, event.Sequence)
		}
		w.same(fmt.Sprintf("after %d, at most %d", c.after, c.limit), c.want, got)
	}
}

func unknownRunHasNoEvents(w *world) { w.same("events", 0, len(w.events(ref("r")))) }

func tenantsReadTheirOwn(w *world) {
	r := w.driven("r")
	w.driven("r", func(r *run.Run) { r.Tenant = "other" })
	w.append(r, ledger.Batch{Events: []run.Event{think("x")}})
	w.same("events of the other", 0, len(w.events(run.Ref{Tenant: "other", ID: "r"})))
}

func endedClaimIsFenced(w *world) {
	for name, end := range map[string]ledger.Batch{
		"park": {Park: true}, "release": {Release: true}, "finish": {Finish: &ledger.Finish{Status: run.Completed}},
	} {
		r := w.driven(name)
		w.append(r, end)
		_, err := w.Append(w.Context(), r.Fence(), ledger.Batch{Events: []run.Event{think("late")}})
		w.refused(err, ledger.ErrFenced)
		w.same("events", 0, w.gapless(r.Ref))
	}
}

func ownerlessFence(w *world) {
	r, _ := w.parked("r", 1)
	_, err := w.Append(w.Context(), run.Fence{Ref: r.Ref, Epoch: 1}, ledger.Batch{Events: []run.Event{think("x")}})
	w.refused(err, ledger.ErrFenced)
}

func foreignFence(w *world) {
	fence := w.driven("r").Fence()
	fence.Tenant = "other"
	_, err := w.Append(w.Context(), fence, ledger.Batch{Events: []run.Event{think("x")}})
	w.refused(err, ledger.ErrFenced)
}

func earlierEpochIsFenced(w *world) {
	w.queued("r")
	first := w.claim()
	w.append(first, ledger.Batch{Release: true})
	w.claim()
	_, err := w.Append(w.Context(), first.Fence(), ledger.Batch{Events: []run.Event{think("x")}})
	w.refused(err, ledger.ErrFenced)
}
