package ledgertest

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fastreact/fastreact/host/internal/run"
)

func pairFacts() []fact {
	return []fact{
		{"ValueIsKeptAndComesBackByteForByte", valueComesBack},
		{"ValueOutlivesTheProcess", valueOutlivesTheProcess},
		{"NoPluginAndNoTenantSeesAnothersValues", drawersAreApart},
		{"ForgottenValueIsGone", forgottenValueIsGone},
		{"KeysAndValuesCountAgainstTheLimit", drawerIsBounded},
		{"FullDrawerTakesWhatMakesItSmaller", fullDrawerShrinks},
		{"PutThatExpectsAnotherVersionChangesNothing", versionsAreCompared},
		{"OfRacingPutsOneSucceeds", racingPuts},
		{"NoVersionComesTwice", versionsAreNew},
	}
}

var drawer = run.Drawer{Plugin: "notes", Tenant: tenant}

func (w *world) put(d run.Drawer, key, value string, edits ...func(*run.Put)) run.PutOutcome {
	w.Helper()
	put := run.Put{Key: key, Value: []byte(value), Limit: 1 << 20}
	for _, edit := range edits {
		edit(&put)
	}
	outcome, err := w.PutPair(w.Context(), d, put)
	w.must(err)
	return outcome
}

func (w *world) kept(d run.Drawer, key string) (value string, found bool) {
	w.Helper()
	pair, found, err := w.Pair(w.Context(), d, key)
	w.must(err)
	return string(pair.Value), found
}

func (w *world) keeps(d run.Drawer, key, want string) {
	w.Helper()
	value, found := w.kept(d, key)
	w.same("value of "+key, want, value)
	w.same("found "+key, true, found)
}

func valueComesBack(w *world) {
	for _, text := range []string{"", "\x00\xff", "日本語", strings.Repeat("x", 100_000)} {
		w.put(drawer, "k\x00é", text)
		w.keeps(drawer, "k\x00é", text)
	}
	_, found := w.kept(drawer, "k")
	w.same("another key", false, found)
}

func valueOutlivesTheProcess(w *world) {
	before := w.put(drawer, "k", "v")
	w.reopen()
	pair, _, err := w.Pair(w.Context(), drawer, "k")
	w.must(err)
	w.same("pair", run.Pair{Key: "k", Value: []byte("v"), Version: before.Version}, pair)
}

func drawersAreApart(w *world) {
	others := []run.Drawer{{Plugin: "notes", Tenant: ""}, {Plugin: "notes", Tenant: "pska2"}, {Plugin: "Notes", Tenant: tenant}, {Plugin: "", Tenant: tenant}}
	w.put(drawer, "k", "mine")
	for _, other := range others {
		_, found := w.kept(other, "k")
		w.same("found", false, found)
		w.put(other, "k", "theirs")
		_, err := w.DropPair(w.Context(), other, "k")
		w.must(err)
	}
	w.keeps(drawer, "k", "mine")
}

func forgottenValueIsGone(w *world) {
	w.put(drawer, "k", "v")
	for _, want := range []bool{true, false} {
		found, err := w.DropPair(w.Context(), drawer, "k")
		w.must(err)
		w.same("found", want, found)
	}
	_, found := w.kept(drawer, "k")
	w.same("kept", false, found)
}

func limited(bytes int64) func(*run.Put) { return func(p *run.Put) { p.Limit = bytes } }

func drawerIsBounded(w *world) {
	w.same("ten bytes", false, w.put(drawer, "ключ", "12", limited(10)).Full) // eight bytes of key
	w.same("one too many", run.PutOutcome{Full: true}, w.put(drawer, "k", "", limited(10)))
	w.same("grown", run.PutOutcome{Full: true}, w.put(drawer, "ключ", "123", limited(10)))
	w.keeps(drawer, "ключ", "12")
	_, err := w.DropPair(w.Context(), drawer, "ключ")
	w.must(err)
	w.same("room again", false, w.put(drawer, "k", "123456789", limited(10)).Full)
	w.same("another tenant", false, w.put(run.Drawer{Plugin: "notes", Tenant: "x"}, "k", "123456789", limited(10)).Full)
}

func fullDrawerShrinks(w *world) {
	w.put(drawer, "a", "12345")
	w.put(drawer, "b", "12345")
	w.same("smaller", false, w.put(drawer, "a", "1", limited(3)).Full)
	w.same("as large", false, w.put(drawer, "b", "54321", limited(3)).Full)
	w.same("larger", true, w.put(drawer, "a", "12", limited(3)).Full)
}

func expecting(version int64) func(*run.Put) { return func(p *run.Put) { p.IfVersion = &version } }

func versionsAreCompared(w *world) {
	made := w.put(drawer, "k", "1", expecting(0))
	w.same("made twice", run.PutOutcome{Conflict: true}, w.put(drawer, "k", "2", expecting(0)))
	changed := w.put(drawer, "k", "2", expecting(made.Version))
	w.same("changed twice", run.PutOutcome{Conflict: true}, w.put(drawer, "k", "3", expecting(made.Version)))
	w.keeps(drawer, "k", "2")
	w.same("newer", true, changed.Version > made.Version)
}

func racingPuts(w *world) {
	made := w.put(drawer, "k", "0")
	var won atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			outcome, err := w.PutPair(w.Context(), drawer, run.Put{Key: "k", Value: []byte("1"), Limit: 100, IfVersion: &made.Version})
			if err == nil && outcome.Version > 0 {
				won.Add(1)
			}
		})
	}
	all.Wait()
	w.same("won", int32(1), won.Load())
}

func versionsAreNew(w *world) {
	first := w.put(drawer, "k", "v").Version
	_, err := w.DropPair(w.Context(), drawer, "k")
	w.must(err)
	w.reopen()
	w.same("after it was forgotten", true, w.put(drawer, "k", "v").Version > first)
}
