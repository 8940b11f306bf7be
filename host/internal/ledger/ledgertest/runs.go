package ledgertest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fastreact/fastreact/host/internal/ledger"
	"github.com/fastreact/fastreact/host/internal/run"
	"github.com/fastreact/fastreact/sdk"
)

func runFacts() []fact {
	return []fact{
		{"CreatedRunReadsBackWhole", createdRunReadsBackWhole},
		{"TakenIDIsRefusedInPublicWords", takenIDIsRefused},
		{"OfManyCreatingOneIDOneSucceeds", oneCreatorSucceeds},
		{"TwoTenantsMayChooseAlike", twoTenantsMayChooseAlike},
		{"UnknownRunIsNotFoundInPublicWords", unknownRunIsNotFound},
		{"NewRunIsQueuedOrOwned", newRunIsQueuedOrOwned},
		{"NewRunThatIsDrivenHasStarted", drivenRunHasStarted},
		{"KeyedRunIsFoundByItsKey", keyedRunIsFound},
		{"IdempotencyKeyBelongsToOneTenantAndUser", keyBelongsToOneUser},
		{"OfManyCreatingUnderOneKeyOneSucceeds", oneCreatorUnderAKey},
		{"IdempotencyKeyGoesWithItsRun", keyGoesWithItsRun},
		{"ListsAreNewestFirst", listsAreNewestFirst},
		{"ListsLeaveOutWhatMayBeLong", listsLeaveOutWhatMayBeLong},
		{"RunsOfOneMomentAreListedLastCreatedFirst", oneMomentIsOrdered},
		{"FiltersSelectRuns", filtersSelectRuns},
		{"LimitBoundsItemsAndNotTheTotal", limitBoundsItems},
	}
}

func createdRunReadsBackWhole(w *world) {
	temperature, skills := 0.5, []string{}
	want := w.queued("r", func(r *run.Run) {
		r.Request.Kind, r.Request.SessionID = run.Background, r.SessionID
		r.Request.Messages = []run.Message{{Role: run.User, Content: "a\x00b <ü> \u2028 🙂"}}
		r.Request.Options.Temperature = &temperature
		r.Request.Skills = &skills
		r.Request.ToolPolicy = run.ToolPolicy{Mode: run.Allowlist, Allowed: []string{"exec"}}
		r.Request.Metadata = []byte(`{"big":12345678901234567890.10,"html":"<&>"}`)
		r.Request.Identity.Roles = []string{"admin"}
	})
	w.same("run", want, w.get(want.Ref))
}

func takenIDIsRefused(w *world) {
	r := w.queued("r")
	_, err := w.Create(w.Context(), r, ledger.Door{})
	w.refused(err, ledger.ErrExists)
	code, sentence := run.Public(err)
	w.same("public face", []string{"run_exists", "Run already exists"}, []string{string(code), sentence})
}

func oneCreatorSucceeds(w *world) {
	var created atomic.Int32
	together(20, func(int) {
		r := run.Run{Ref: ref("r"), Kind: run.Background, Status: run.Queued}
		switch _, err := w.Create(w.Context(), r, ledger.Door{}); {
		case err == nil:
			created.Add(1)
		case !errors.Is(err, ledger.ErrExists):
			w.Error(err)
		}
	})
	w.same("winners", int32(1), created.Load())
}

func twoTenantsMayChooseAlike(w *world) {
	w.queued("r")
	other := w.queued("r", func(r *run.Run) { r.Tenant, r.SessionID = "", "other" })
	w.same("run of the other tenant", other, w.get(other.Ref))
	w.same("run of the first tenant", "session-r", w.get(ref("r")).SessionID)
}

func keyed(user, key string) func(*run.Run) {
	return func(r *run.Run) {
		r.Request.Identity.UserKey = user
		r.Request.Idempotency = run.Idempotency{Key: key, Digest: "sha256:body"}
	}
}

func keyedRunIsFound(w *world) {
	want := w.queued("r", keyed("u", "k"))
	w.queued("s", keyed("u", "other"))
	got, err := w.Keyed(w.Context(), tenant, "u", "k")
	w.must(err)
	w.same("run", want, got)
}

func keyBelongsToOneUser(w *world) {
	w.queued("r", keyed("u", "k"))
	w.queued("s", keyed("v", "k"))
	w.queued("t", keyed("u", "k"), func(r *run.Run) { r.Tenant = "other" })
	for _, stranger := range []struct {
		tenant    run.TenantKey
		user, key string
	}{{"third", "u", "k"}, {tenant, "w", "k"}, {tenant, "u", "K"}, {tenant, "u", ""}} {
		_, err := w.Keyed(w.Context(), stranger.tenant, stranger.user, stranger.key)
		w.refused(err, ledger.ErrUnknown)
	}
}

func oneCreatorUnderAKey(w *world) {
	var created atomic.Int32
	together(20, func(i int) {
		r := run.Run{Ref: ref(fmt.Sprintf("r%d", i)), Kind: run.Background, Status: run.Queued}
		keyed("u", "k")(&r)
		switch _, err := w.Create(w.Context(), r, ledger.Door{}); {
		case err == nil:
			created.Add(1)
		case !errors.Is(err, ledger.ErrExists):
			w.Error(err)
		}
	})
	w.same("winners", int32(1), created.Load())
	page, err := w.Runs(w.Context(), run.Filter{})
	w.must(err)
	w.same("runs", 1, page.Total)
}

func keyGoesWithItsRun(w *world) {
	w.finish(w.driven("r", keyed("u", "k")), run.Completed)
	w.prune(time.Hour, 10)
	_, err := w.Keyed(w.Context(), tenant, "u", "k")
	w.refused(err, ledger.ErrUnknown)
	w.queued("r", keyed("u", "k"))
}

func unknownRunIsNotFound(w *world) {
	w.queued("r")
	_, err := w.Run(w.Context(), run.Ref{Tenant: "other", ID: "r"})
	w.refused(err, ledger.ErrUnknown)
	code, sentence := run.Public(err)
	w.same("public face", []string{"not_found", "Run not found"}, []string{string(code), sentence})
}

func newRunIsQueuedOrOwned(w *world) {
	for _, r := range []run.Run{
		{Ref: ref("a"), Kind: run.Chat, Status: run.Running},
		{Ref: ref("b"), Kind: run.Chat, Status: run.Queued, Owner: node},
		{Ref: ref("c"), Kind: run.Chat, Status: run.Completed},
		{Ref: ref("d"), Status: run.Queued},
		{Kind: run.Chat, Status: run.Queued},
	} {
		if _, err := w.Create(w.Context(), r, ledger.Door{Lease: lease}); err == nil {
			w.Errorf("created %+v", r.Ref)
		}
	}
}

func drivenRunHasStarted(w *world) {
	r := w.driven("r")
	w.same("start", &r.CreatedAt, w.get(r.Ref).StartedAt)
}

func listsAreNewestFirst(w *world) {
	for _, id := range []string{"b", "a", "c"} {
		w.queued(id)
	}
	page, err := w.Runs(w.Context(), run.Filter{Limit: 10})
	w.must(err)
	w.same("order", []string{"c", "a", "b"}, ids(page.Items))
}

func listsLeaveOutWhatMayBeLong(w *world) {
	w.queued("a", func(r *run.Run) {
		r.Request.Skills = &[]string{"long"}
		r.Request.ToolPolicy = run.ToolPolicy{Allowed: []string{"long"}, Scope: &sdk.Scope{SourceItemIDs: []string{"long"}}}
		r.Request.Messages = []run.Message{{Role: run.User, Content: "long"}}
		r.Request.Metadata = []byte(`{"n":1.50,"caller":"pska"}`)
	})
	page, err := w.Runs(w.Context(), run.Filter{Limit: 10})
	w.must(err)
	w.same("messages", 0, len(page.Items[0].Request.Messages))
	w.same("skills", (*[]string)(nil), page.Items[0].Request.Skills)
	w.same("tool policy", run.ToolPolicy{}, page.Items[0].Request.ToolPolicy)
	w.same("metadata", `{"n":1.50,"caller":"pska"}`, string(page.Items[0].Request.Metadata))
	w.same("messages of the run", 1, len(w.get(page.Items[0].Ref).Request.Messages))
}

func oneMomentIsOrdered(w *world) {
	for _, id := range []string{"b", "a", "c"} {
		r := run.Run{Ref: ref(id), Kind: run.Background, Status: run.Queued}
		_, err := w.Create(w.Context(), r, ledger.Door{})
		w.must(err)
	}
	page, err := w.Runs(w.Context(), run.Filter{Limit: 10})
	w.must(err)
	w.same("order", []string{"c", "a", "b"}, ids(page.Items))
}

func filtersSelectRuns(w *world) {
	w.queued("queued", func(r *run.Run) { r.SessionID = "s" })
	w.driven("chat", chat)
	w.driven("user", func(r *run.Run) { r.Request.Identity = sdk.Identity{UserKey: "other"} })
	w.queued("tenant", func(r *run.Run) { r.Tenant = "" })
	none := run.TenantKey("")
	for _, c := range []struct {
		filter run.Filter
		want   []string
	}{
		{run.Filter{}, []string{"tenant", "user", "chat", "queued"}},
		{run.Filter{Tenant: &none}, []string{"tenant"}},
		{run.Filter{ID: "chat"}, []string{"chat"}},
		{run.Filter{Status: run.Running}, []string{"user", "chat"}},
		{run.Filter{SessionID: "s"}, []string{"queued"}},
		{run.Filter{UserKey: "other"}, []string{"user"}},
		{run.Filter{Kind: run.Chat}, []string{"chat"}},
		{run.Filter{Kind: run.Background, Status: run.Running, UserKey: "other"}, []string{"user"}},
		{run.Filter{Status: run.Failed}, []string{}},
	} {
		c.filter.Limit = 10
		page, err := w.Runs(w.Context(), c.filter)
		w.must(err)
		w.same("items", c.want, ids(page.Items))
		w.same("total", len(c.want), page.Total)
	}
}

func limitBoundsItems(w *world) {
	for _, id := range []string{"a", "b", "c"} {
		w.queued(id)
	}
	for limit, want := range map[int][]string{0: {}, 2: {"c", "b"}} {
		page, err := w.Runs(w.Context(), run.Filter{Limit: limit})
		w.must(err)
		w.same("items", want, ids(page.Items))
		w.same("total", 3, page.Total)
	}
}
