package host

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// decoder walks a tree of values against the sections of Config and collects every problem it meets.
type decoder struct {
	source   string
	origin   Origin
	origins  map[string]Origin
	places   map[string]place
	reported map[string]bool // paths with a problem
	problems []Problem
}

// place is where a value stands.
type place struct {
	source       string
	line, column int
}

func newDecoder() *decoder {
	return &decoder{origins: map[string]Origin{}, places: map[string]place{}, reported: map[string]bool{}}
}

// report adds a problem at a path, placed where the path or its nearest known parent stands. Above and below a path
// that has a problem already nothing more is said.
func (d *decoder) report(path, message, hint string) {
	for reported := range d.reported {
		if within(path, reported) || within(reported, path) {
			return
		}
	}
	d.reported[path] = true
	at := d.placeOf(path)
	d.problems = append(d.problems,
		Problem{Source: at.source, Line: at.line, Column: at.column, Path: path, Message: message, Hint: hint})
}

// within reports whether path is parent itself, or lies below it.
func within(path, parent string) bool {
	rest, below := strings.CutPrefix(path, parent)
	return below && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func (d *decoder) placeOf(path string) place {
	for parent := path; parent != ""; parent = parentPath(parent) {
		if at, known := d.places[parent]; known {
			return at
		}
	}
	return place{source: d.source}
}

func parentPath(path string) string {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '.' || path[i] == '[' {
			return path[:i]
		}
	}
	return ""
}

// value decodes node into target, which f describes.
func (d *decoder) value(node *yaml.Node, target reflect.Value, path string, f field) {
	d.places[path] = place{d.source, node.Line, node.Column}
	if node.Kind == yaml.AliasNode || node.Anchor != "" {
		d.report(path, "anchors and aliases are not read here", "write the value out")
		return
	}
	switch {
	case target.Type() == treeType:
		d.tree(node, target, path)
	case target.Type() == rulesType:
		d.rules(node, target, path)
	case target.Kind() == reflect.Struct:
		d.section(node, target, path)
	case target.Kind() == reflect.Map:
		d.table(node, target, path)
	case target.Kind() == reflect.Slice:
		d.list(node, target, path)
	default:
		d.origins[path] = d.origin
		d.scalar(node, target, path, f)
	}
}

// section decodes a mapping with fixed keys.
func (d *decoder) section(node *yaml.Node, target reflect.Value, path string) {
	fields := fieldsOf(target.Type())
	byKey, known := map[string]field{}, []string{}
	for _, f := range fields {
		byKey[f.key] = f
		known = append(known, f.key)
	}
	d.pairs(node, path, func(key, value *yaml.Node) {
		at := join(path, key.Value)
		f, exists := byKey[key.Value]
		if !exists {
			d.places[at] = place{d.source, key.Line, key.Column}
			message, hint := unknownKey(at, key.Value, known)
			d.report(at, message, hint)
			return
		}
		d.value(value, target.Field(f.index), at, f)
	})
}

// pairs hands each key of a mapping to visit, and reports what is no mapping, no key, or there twice.
func (d *decoder) pairs(node *yaml.Node, path string, visit func(key, value *yaml.Node)) {
	if node.Kind != yaml.MappingNode {
		d.report(path, "must be a mapping, not "+nodeName(node), "write {} for an empty one, or leave the key out")
		return
	}
	firstLine := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		at := join(path, key.Value)
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || key.Value == "" {
			d.problems = append(d.problems, Problem{
				Source: d.source, Line: key.Line, Column: key.Column, Path: path,
				Message: "a key must be plain text", Hint: "write key: value",
			})
			continue
		}
		if line, twice := firstLine[key.Value]; twice {
			d.problems = append(d.problems, Problem{
				Source: d.source, Line: key.Line, Column: key.Column, Path: at,
				Message: "duplicate key", Hint: fmt.Sprintf("it stands on line %d too", line),
			})
			continue
		}
		firstLine[key.Value] = key.Line
		visit(key, value)
	}
}

// table decodes a mapping with free keys and values of one type.
func (d *decoder) table(node *yaml.Node, target reflect.Value, path string) {
	d.origins[path] = d.origin
	decoded := reflect.MakeMap(target.Type())
	d.pairs(node, path, func(key, value *yaml.Node) {
		one := reflect.New(target.Type().Elem()).Elem()
		setDefaults(one)
		d.value(value, one, join(path, key.Value), field{})
		decoded.SetMapIndex(reflect.ValueOf(key.Value), one)
	})
	target.Set(decoded)
}

func (d *decoder) list(node *yaml.Node, target reflect.Value, path string) {
	d.origins[path] = d.origin
	if node.Kind != yaml.SequenceNode {
		d.report(path, "must be a list, not "+nodeName(node), "write [] for an empty one")
		return
	}
	decoded := reflect.MakeSlice(target.Type(), len(node.Content), len(node.Content))
	for i, content := range node.Content {
		one := decoded.Index(i)
		setDefaults(one)
		d.value(content, one, element(path, i), field{})
	}
	target.Set(decoded)
}

func (d *decoder) scalar(node *yaml.Node, target reflect.Value, path string, f field) {
	if node.Kind != yaml.ScalarNode {
		d.report(path, "must be "+typeName(target.Type())+", not "+nodeName(node), "")
		return
	}
	if target.Kind() == reflect.String {
		d.text(node, target, path, f)
		return
	}
	message := setNumber(node, target)
	if message == "" && target.Kind() != reflect.Bool {
		message = f.boundsProblem(integerOf(target), target.Type())
	}
	if message != "" {
		d.report(path, message, defaultHint(f))
	}
}

func (d *decoder) text(node *yaml.Node, target reflect.Value, path string, f field) {
	if node.Tag != "!!str" {
		d.report(path, "must be text, not "+nodeName(node), "put it in quotes")
		return
	}
	if !f.allows(node.Value) {
		hint := "one of " + listOf(f.enum)
		d.report(path, fmt.Sprintf("%q is not a value of this key", node.Value), hint)
		return
	}
	target.SetString(node.Value)
}

// setNumber sets a bool, a duration or an integer, and says what is wrong otherwise.
func setNumber(node *yaml.Node, target reflect.Value) string {
	wrong := "must be " + typeName(target.Type()) + ", not " + nodeName(node)
	switch {
	case target.Kind() == reflect.Bool:
		if node.Tag != "!!bool" {
			return wrong
		}
		target.SetBool(node.Value == "true" || node.Value == "True" || node.Value == "TRUE")
	case target.Type() == durationType:
		parsed, err := time.ParseDuration(node.Value)
		if node.Tag != "!!str" || err != nil {
			return fmt.Sprintf("%q is no duration; use a form like 15s or 5m", node.Value)
		}
		target.SetInt(int64(parsed))
	default:
		number, err := strconv.ParseInt(node.Value, 10, 64)
		if node.Tag != "!!int" || err != nil {
			return wrong
		}
		if !fits(number, target) {
			return "is too large or too small"
		}
		setInteger(number, target)
	}
	return ""
}

func fits(number int64, target reflect.Value) bool {
	if target.CanUint() {
		return number >= 0 && !target.OverflowUint(uint64(number))
	}
	return !target.OverflowInt(number)
}

func setInteger(number int64, target reflect.Value) {
	if target.CanUint() {
		target.SetUint(uint64(number))
		return
	}
	target.SetInt(number)
}

func integerOf(target reflect.Value) int64 {
	if target.CanUint() {
		return int64(target.Uint())
	}
	return target.Int()
}

func defaultHint(f field) string {
	if f.fallback == "" {
		return ""
	}
	return "the default is " + f.fallback
}

func typeName(t reflect.Type) string {
	switch {
	case t == durationType:
		return "a duration"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.String:
		return "text"
	}
	return "a whole number"
}

// nodeName says in words what a node is.
func nodeName(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch node.Tag {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	case "!!str":
		return "text"
	}
	return "a value of another type"
}
