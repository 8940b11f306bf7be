package sdk

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/fastreact/fastreact/sdk/wire"
)

// Args are the arguments of a call, read strictly and without reflection: in a guest this takes microseconds.
//
// A name is found whatever its case, because the tool behind a policy may not mind the case either. For the same
// reason an object in which a name stands twice, in whatever case, is refused: nobody can say which one counts.
type Args struct{ members []argument }

type argument struct {
	name string
	raw  json.RawMessage
}

// ReadArgs takes a JSON object of arguments apart. Its raw values stay parts of raw.
func ReadArgs(raw json.RawMessage) (Args, error) {
	r := wire.NewReader(raw)
	if kind := r.Kind(); kind != wire.Object && kind != wire.Nothing {
		return Args{}, argsError("the arguments are no JSON object")
	}
	args := Args{members: make([]argument, 0, 8)}
	for name := range r.Members() {
		if args.find(string(name)) >= 0 {
			r.Fail(argsError(`the argument "` + string(name) + `" is given twice`))
			continue
		}
		args.members = append(args.members, argument{string(name), r.Raw()})
	}
	if err := r.End(); err != nil {
		return Args{}, err
	}
	return args, nil
}

// Arguments takes the arguments that are judged apart.
func (q Question) Arguments() (Args, error) { return ReadArgs(q.Args) }

// Arguments takes the arguments that the tool is called with apart.
func (c Call) Arguments() (Args, error) { return ReadArgs(c.Args) }

// argsError is a sentence about arguments. It stands for errors.New where it is a constant.
type argsError string

func (e argsError) Error() string { return string(e) }

// Names lists the arguments in the order they were written.
func (a Args) Names() []string {
	names := make([]string, len(a.members))
	for i, member := range a.members {
		names[i] = member.name
	}
	return names
}

// Has reports whether an argument is given and not null.
func (a Args) Has(name string) bool { return a.kind(name) > wire.Null }

// Raw returns an argument as it is written, or nil when it is not given.
func (a Args) Raw(name string) json.RawMessage {
	if i := a.find(name); i >= 0 {
		return a.members[i].raw
	}
	return nil
}

// Text returns an argument that must be given and be a string.
func (a Args) Text(name string) (string, error) {
	if a.kind(name) != wire.Text {
		return "", wrongArgument(name, "a string")
	}
	return wire.NewReader(a.Raw(name)).Text(), nil
}

// Bool returns an argument that must be given and be true or false.
func (a Args) Bool(name string) (bool, error) {
	if a.kind(name) != wire.Bool {
		return false, wrongArgument(name, "true or false")
	}
	return wire.NewReader(a.Raw(name)).Bool(), nil
}

// Number returns an argument that must be given and be a number that a float64 can hold.
func (a Args) Number(name string) (float64, error) {
	number, err := strconv.ParseFloat(string(a.Raw(name)), 64)
	if a.kind(name) != wire.Number || err != nil {
		return 0, wrongArgument(name, "a number")
	}
	return number, nil
}

// Whole returns an argument that must be given and be a whole number, written without a point or an exponent.
func (a Args) Whole(name string) (int64, error) {
	number, err := strconv.ParseInt(string(a.Raw(name)), 10, 64)
	if a.kind(name) != wire.Number || err != nil {
		return 0, wrongArgument(name, "a whole number")
	}
	return number, nil
}

// Texts returns an argument that must be given and be a list of strings.
func (a Args) Texts(name string) ([]string, error) {
	if a.kind(name) != wire.List {
		return nil, wrongArgument(name, "a list of strings")
	}
	r := wire.NewReader(a.Raw(name))
	texts := []string{}
	for range r.Elements() {
		texts = append(texts, r.Text())
	}
	if r.End() != nil {
		return nil, wrongArgument(name, "a list of strings")
	}
	return texts, nil
}

// List returns the elements of an argument that must be given and be a list.
func (a Args) List(name string) ([]json.RawMessage, error) {
	if a.kind(name) != wire.List {
		return nil, wrongArgument(name, "a list")
	}
	r := wire.NewReader(a.Raw(name))
	elements := []json.RawMessage{}
	for range r.Elements() {
		elements = append(elements, r.Raw())
	}
	return elements, r.End()
}

// Object returns an argument that must be given and be an object, to be read in the same way.
func (a Args) Object(name string) (Args, error) {
	if a.kind(name) != wire.Object {
		return Args{}, wrongArgument(name, "an object")
	}
	return ReadArgs(a.Raw(name))
}

func (a Args) kind(name string) wire.Kind { return wire.NewReader(a.Raw(name)).Kind() }

func (a Args) find(name string) int {
	for i := range a.members {
		if strings.EqualFold(a.members[i].name, name) {
			return i
		}
	}
	return -1
}

func wrongArgument(name, wanted string) error {
	return argsError(`the argument "` + name + `" must be ` + wanted)
}
