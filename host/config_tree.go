package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fastreact/fastreact/sdk"
)

// maxTreeDepth bounds free trees: deeper ones are a mistake or an attack.
const maxTreeDepth = 64

// tree decodes any mapping into JSON.
func (d *decoder) tree(node *yaml.Node, target reflect.Value, path string) {
	d.origins[path] = d.origin
	if node.Kind != yaml.MappingNode {
		d.report(path, "must be a mapping, not "+nodeName(node), "write {} for an empty one, or leave the key out")
		return
	}
	text, err := json.Marshal(d.free(node, path, maxTreeDepth))
	if err != nil {
		d.report(path, "cannot be written as JSON", "")
		return
	}
	target.SetBytes(text)
}

// free turns a node into what encoding/json writes as the same value.
func (d *decoder) free(node *yaml.Node, path string, depth int) any {
	if depth == 0 {
		d.report(path, "is nested too deeply", fmt.Sprintf("at most %d levels", maxTreeDepth))
		return nil
	}
	switch node.Kind {
	case yaml.MappingNode:
		table := map[string]any{}
		d.pairs(node, path, func(key, value *yaml.Node) {
			at := join(path, key.Value)
			d.places[at] = place{d.source, value.Line, value.Column}
			table[key.Value] = d.free(value, at, depth-1)
		})
		return table
	case yaml.SequenceNode:
		list := make([]any, len(node.Content))
		for i, content := range node.Content {
			at := element(path, i)
			d.places[at] = place{d.source, content.Line, content.Column}
			list[i] = d.free(content, at, depth-1)
		}
		return list
	case yaml.ScalarNode:
		value, err := freeScalar(node)
		if err != nil {
			d.report(path, err.Error(), "put it in quotes if it is text")
		}
		return value
	}
	d.report(path, "anchors and aliases are not read here", "write the value out")
	return nil
}

func freeScalar(node *yaml.Node) (any, error) {
	switch node.Tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		return strings.EqualFold(node.Value, "true"), nil
	case "!!int", "!!float":
		if !json.Valid([]byte(node.Value)) {
			return nil, errors.New("is not a number that JSON can write")
		}
		return json.Number(node.Value), nil
	case "!!str", "!!timestamp":
		return node.Value, nil
	}
	return nil, errors.New("has a type that JSON does not know")
}

// rules decodes a tree of policy rules and checks every action in it.
func (d *decoder) rules(node *yaml.Node, target reflect.Value, path string) {
	d.origins[path] = d.origin
	nested := path != "policy.tool_rules"
	decoded := Rules{}
	d.pairs(node, path, func(key, value *yaml.Node) {
		decoded[key.Value] = d.rule(value, join(path, key.Value), nested)
	})
	target.Set(reflect.ValueOf(decoded))
}

// rule decodes an action, or a mapping of action and, where nested, tools.
func (d *decoder) rule(node *yaml.Node, path string, nested bool) any {
	d.places[path] = place{d.source, node.Line, node.Column}
	if node.Kind == yaml.ScalarNode {
		return d.action(node, path)
	}
	rule := map[string]any{}
	d.pairs(node, path, func(key, value *yaml.Node) {
		at := join(path, key.Value)
		d.places[at] = place{d.source, value.Line, value.Column}
		switch {
		case key.Value == "action":
			rule["action"] = d.action(value, at)
		case key.Value == "tools" && nested:
			rule["tools"] = d.toolRules(value, at)
		case nested:
			d.report(at, "unknown key", "known here: action, tools")
		default:
			d.report(at, "unknown key", "known here: action")
		}
	})
	if node.Kind == yaml.MappingNode && len(node.Content) == 0 {
		d.report(path, "decides nothing", "write an action, one of "+actionList())
	}
	return rule
}

func (d *decoder) toolRules(node *yaml.Node, path string) map[string]any {
	tools := map[string]any{}
	d.pairs(node, path, func(key, value *yaml.Node) {
		tools[key.Value] = d.rule(value, join(path, key.Value), false)
	})
	return tools
}

func (d *decoder) action(node *yaml.Node, path string) string {
	if node.Kind != yaml.ScalarNode || !sdk.Action(node.Value).Valid() {
		d.report(path, fmt.Sprintf("%q is not an action", node.Value), "one of "+actionList())
		return ""
	}
	return node.Value
}

func actionList() string {
	names := []string{}
	for _, action := range sdk.Actions() {
		names = append(names, string(action))
	}
	return listOf(names)
}
