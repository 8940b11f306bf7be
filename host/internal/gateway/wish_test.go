package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/fastreact/fastreact/host/internal/run"
)

func TestAnInvalidCallIsRefusedAndLeavesNothingBehind(t *testing.T) {
	w := newWorld(t)
	g := w.open()
	for name, spoil := range map[string]func(*Request){
		"turn is no UUID":         func(r *Request) { r.TurnID = "turn-1" },
		"turn without hyphens":    func(r *Request) { r.TurnID = strings.ReplaceAll(r.TurnID, "-", "") },
		"turn in braces":          func(r *Request) { r.TurnID = "{" + r.TurnID + "}" },
		"turn and a line":         func(r *Request) { r.TurnID += "\n" },
		"no turn":                 func(r *Request) { r.TurnID = "" },
		"unknown tool":            func(r *Request) { r.ToolID = "shell.exec" },
		"registered name":         func(r *Request) { r.ToolID = "investigation_search" },
		"contact is no tool":      func(r *Request) { r.ToolID = "research.contact" },
		"no tool":                 func(r *Request) { r.ToolID = "" },
		"key is blank":            func(r *Request) { r.Key = " " },
		"key is too long":         func(r *Request) { r.Key = strings.Repeat("k", 129) },
		"key holds a line break":  func(r *Request) { r.Key = "again\n" },
		"no key":                  func(r *Request) { r.Key = "" },
		"no input":                func(r *Request) { r.Input = nil },
		"null as input":           func(r *Request) { r.Input = json.RawMessage(`null`) },
		"list as input":           func(r *Request) { r.Input = json.RawMessage(`[]`) },
		"missing key in input":    func(r *Request) { r.Input = json.RawMessage(`{}`) },
		"another key in input":    func(r *Request) { r.Input = json.RawMessage(`{"query":"a","limit":1}`) },
		"key in other case":       func(r *Request) { r.Input = json.RawMessage(`{"Query":"a"}`) },
		"key twice in input":      func(r *Request) { r.Input = json.RawMessage(`{"query":"a","query":"b"}`) },
		"number for a text":       func(r *Request) { r.Input = json.RawMessage(`{"query":1}`) },
		"blank query":             func(r *Request) { r.Input = json.RawMessage(`{"query":"  "}`) },
		"NUL in query":            func(r *Request) { r.Input = json.RawMessage(`{"query":"a\u0000"}`) },
		"513 characters":          func(r *Request) { r.Input = json.RawMessage(`{"query":"` + strings.Repeat("a", 513) + `"}`) },
		"bytes that are no UTF-8": func(r *Request) { r.Input = json.RawMessage("{\"query\":\"\xff\"}") },
		"text behind the input":   func(r *Request) { r.Input = json.RawMessage(`{"query":"a"} x`) },
		"list as context":         func(r *Request) { r.Context = json.RawMessage(`[]`) },
		"text as context":         func(r *Request) { r.Context = json.RawMessage(`"a"`) },
		"key twice in context":    func(r *Request) { r.Context = json.RawMessage(`{"a":{"b":1,"b":2}}`) },
		"NUL in context":          func(r *Request) { r.Context = json.RawMessage(`{"a\u0000":1}`) },
		"deep context": func(r *Request) {
			r.Context = json.RawMessage(strings.Repeat(`{"a":`, 70) + `1` + strings.Repeat(`}`, 70))
		},
		"reference to no object":   func(r *Request) { r.ObjectRefs = []string{"core-snapshot.json"} },
		"sixty-five references":    func(r *Request) { r.ObjectRefs = many(node, 65) },
		"reference with two kinds": func(r *Request) { r.ObjectRefs = []string{"a:b:" + someTurn} },
	} {
		t.Run(name, func(t *testing.T) {
			r := search()
			spoil(&r)
			_, err := g.Call(context.Background(), r)
			wantCode(t, err, CodeInvalid)
		})
	}
	if sent, page := w.source.calls(), g.Events(0); len(sent) > 0 || page.Cursor != 0 || len(w.books.records) > 0 {
		t.Errorf("sent %v, events %v, records %v", sent, page, w.books.records)
	}
}

func TestValidationComesBeforeTheLookUp(t *testing.T) {
	w := newWorld(t)
	g := w.open()
	known := search()
	mustCall(t, g, known)
	known.Input = json.RawMessage(`{"query":""}`)
	_, err := g.Call(context.Background(), known)
	wantCode(t, err, CodeInvalid)
}

func TestCharactersAreCountedNotBytes(t *testing.T) {
	w := newWorld(t)
	g := w.open()
	mustCall(t, g, request("investigation.search", `{"query":"`+strings.Repeat("🔎", 512)+`"}`))
	mustStart(t, g, strings.Repeat("é", 512))
}

func TestTheTurnOfACallNeedNotExist(t *testing.T) {
	reply := mustCall(t, newWorld(t).open(), search())
	if reply.TurnID != someTurn || reply.State != Completed {
		t.Errorf("reply = %+v", reply)
	}
}

// Whatever is taken is exactly what its tool's schema asks for, and reaches the tool as it was checked.
func FuzzARequestIsTakenOnlyWhole(f *testing.F) {
	f.Add(someTurn, "investigation.search", `{"query":"a"}`, `null`, node, run.NewUUID())
	f.Add(someTurn, "research.prepare", `{"selection_ids":["`+node+`"],"question":"q","exclusions":["x"]}`, `{"a":[1]}`, "", run.NewUUID())
	f.Add("x", "jobs.get", `{"job_id":"`+someTurn+`","job_id":"x"}`, `{"a":1,"a":2}`, "a", "b")
	f.Add(someTurn, "graph.get_node", "{\"object_id\":\"\xff\x00\"}", ``, node, someTurn)
	f.Fuzz(func(t *testing.T, turnID, toolID, input, context, ref, key string) {
		r := Request{TurnID: turnID, ToolID: toolID, Input: json.RawMessage(input), Context: json.RawMessage(context), Key: key}
		if ref != "" {
			r.ObjectRefs = []string{ref}
		}
		w, err := readRequest(r)
		if err != nil {
			wantCode(t, err, CodeInvalid)
			return
		}
		tool, known := toolOf(toolID)
		members, readable := readObject(w.input)
		if !known || !readable || !takes(tool.input, members) || !run.IsUUID(turnID) || !run.IsKey(key) || !areObjectIDs(w.refs) {
			t.Errorf("taken: %+v as %+v", r, w)
		}
		again, err := readRequest(Request{TurnID: turnID, ToolID: toolID, Input: w.input, Context: r.Context, ObjectRefs: r.ObjectRefs, Key: key})
		if err != nil || again.fingerprint != w.fingerprint {
			t.Errorf("the canonical input is another intention: %v", err)
		}
	})
}

func many(text string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = text
	}
	return list
}
