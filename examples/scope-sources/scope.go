// Command scope-sources is a scope plugin: a search reads the sources that the caller selected, and its results name
// no others.
package main

import (
	"encoding/json"
	"slices"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/wire"
)

// key is the argument in which this tool takes its sources.
const key = "sources"

// scoper is pure: it sees no files, no network and no clock.
type scoper struct{}

// Inject replaces what the model wrote about sources by the caller's selection.
func (scoper) Inject(request sdk.InjectRequest) (sdk.Injection, error) {
	asked, err := sdk.ReadArgs(request.Args)
	if err != nil || request.Scope.SourceItemIDs == nil {
		return sdk.Injection{Args: request.Args, Narrowed: []string{}}, err
	}
	bounded := wire.NewWriter(len(request.Args))
	for _, name := range asked.Names() {
		if !wire.SameName([]byte(name), key) {
			bounded.Raw(name, asked.Raw(name))
		}
	}
	bounded.Texts(key, request.Scope.SourceItemIDs)
	args, err := bounded.End()
	injection := sdk.Injection{Args: args, Applied: true, Narrowed: []string{}}
	if asked.Has(key) {
		injection.Narrowed = append(injection.Narrowed, key)
	}
	return injection, err
}

// Filter keeps a result that is a list of entries with a "source"; of the list, only what the scope names.
func (scoper) Filter(request sdk.FilterRequest) (sdk.Filtering, error) {
	if request.Scope.SourceItemIDs == nil {
		return sdk.Filtering{Result: request.Result}, nil
	}
	kept, removed := []byte{'['}, 0
	r := wire.NewReader(request.Result)
	for range r.Elements() {
		entry := json.RawMessage(r.Raw())
		if !inside(entry, request.Scope.SourceItemIDs) {
			removed++
			continue
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(kept, entry...)
	}
	if err := r.End(); err != nil {
		return sdk.Filtering{}, err // no list: the host keeps it back
	}
	if removed == 0 {
		return sdk.Filtering{Result: request.Result}, nil
	}
	return sdk.Filtering{Result: append(kept, ']'), Removed: removed}, nil
}

func inside(entry json.RawMessage, allowed []string) bool {
	fields, err := sdk.ReadArgs(entry)
	if err != nil {
		return false
	}
	source, err := fields.Text("source")
	return err == nil && slices.Contains(allowed, source)
}

func main() {} // the host calls Inject and Filter
