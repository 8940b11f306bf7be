package agent_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fastreact/fastreact/host/internal/model"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

// driveReporting drives a run whose tool look reports in its own way, in the time of a bubble. It returns the signs of
// life with the second each was written in.
func driveReporting(t *testing.T, most int, report func(ctx context.Context)) (signs []run.Event, seconds []int) {
	t.Helper()
	began := time.Now()
	w := newWorld(t, []model.Turn{model.Ask(wish("c1", "look", `{}`)), model.Say("Done.")}, func(s *setting) {
		s.agent.MaxProgressBytes = most
		s.tools.answers["look"] = func(ctx context.Context, _ sdk.Call) (sdk.Result, error) {
			report(ctx)
			return sdk.Result{Content: "result"}, nil
		}
	})
	w.drive(t)
	events := w.events(t)
	for i, event := range events {
		if event.Kind == run.ToolProgress && (events[i-1].Kind == run.SessionEnd || event.ToolCallID != "c1" || event.ToolName != "look") {
			t.Errorf("sign %+v behind %s", event, events[i-1].Kind)
		}
	}
	if last := w.model.Requests()[1].Messages; last[len(last)-1].Content != "result" {
		t.Errorf("the model saw %+v", last)
	}
	signs = only(events, run.ToolProgress)
	for _, event := range signs {
		seconds = append(seconds, int(event.Time.Sub(began).Round(time.Second)/time.Second))
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	return signs, seconds
}

func contents(events []run.Event) []string {
	var all []string
	for _, event := range events {
		all = append(all, event.Content)
	}
	return all
}

func TestSignsOfLifeComeOnceASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signs, seconds := driveReporting(t, 1000, func(ctx context.Context) {
			for i := range 35 {
				sdk.ReportProgress(ctx, sdk.Progress{Text: string(rune('a' + i%26))})
				<-time.After(100 * time.Millisecond)
			}
		})
		if diff := cmp.Diff([]int{0, 1, 2, 3}, seconds); diff != "" {
			t.Errorf("seconds (-want +got):\n%s", diff)
		}
		if got := strings.Join(contents(signs), ""); !strings.HasPrefix("abcdefghijklmnopqrstuvwxyzabcdefghi", got) || len(got) < 30 {
			t.Errorf("text %q", got)
		}
		if diff := cmp.Diff(map[string]any{"action": "progress", "done": nil, "total": nil}, metadata(t, signs[0])); diff != "" {
			t.Errorf("metadata (-want +got):\n%s", diff)
		}
	})
}

func TestASignOfLifeIsShownEvenWhenTheCallIsQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := 1.0, 2.0
		signs, _ := driveReporting(t, 1000, func(ctx context.Context) {
			sdk.ReportProgress(ctx, sdk.Progress{Text: "first", Done: &one, Total: &two})
			sdk.ReportProgress(ctx, sdk.Progress{Text: "second", Done: &two, Total: &two})
		})
		if len(signs) != 1 || !strings.HasPrefix(signs[0].Content, "first") {
			t.Fatalf("signs %v", contents(signs))
		}
		if fields := metadata(t, signs[0]); fields["total"] != 2.0 {
			t.Errorf("metadata %v", fields)
		}
	})
}

func TestSignsOfLifeAreBounded(t *testing.T) {
	for most, want := range map[int][]string{0: nil, 5: {"abc", "d"}, 6: {"abc", "dé"}} {
		synctest.Test(t, func(t *testing.T) {
			signs, _ := driveReporting(t, most, func(ctx context.Context) {
				for _, text := range []string{"abc", "défgh", "more"} {
					sdk.ReportProgress(ctx, sdk.Progress{Text: text})
					<-time.After(2 * time.Second)
				}
			})
			if diff := cmp.Diff(want, contents(signs)); diff != "" {
				t.Errorf("most %d (-want +got):\n%s", most, diff)
			}
			if len(signs) > 1 && metadata(t, signs[1])["cut"] != true {
				t.Errorf("metadata %s", signs[1].Metadata)
			}
		})
	}
}

func TestAReportAfterTheCallIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signs, _ := driveReporting(t, 1000, func(ctx context.Context) {
			go func() {
				<-time.After(time.Second)
				sdk.ReportProgress(ctx, sdk.Progress{Text: "late"})
			}()
		})
		<-time.After(2 * time.Second)
		if len(signs) != 0 {
			t.Errorf("signs %v", contents(signs))
		}
	})
}
