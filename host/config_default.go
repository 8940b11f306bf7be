package host

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// DefaultConfig returns the configuration that runs when nothing is set.
func DefaultConfig() Config {
	var config Config
	setDefaults(reflect.ValueOf(&config).Elem())
	return config
}

// setDefaults gives every scalar below target the default of its tag. A bad default is a bug in a struct tag.
func setDefaults(target reflect.Value) {
	if target.Kind() != reflect.Struct {
		return
	}
	for _, f := range fieldsOf(target.Type()) {
		one := target.Field(f.index)
		switch one.Kind() {
		case reflect.Struct:
			setDefaults(one)
		case reflect.String:
			one.SetString(f.fallback)
		case reflect.Map, reflect.Slice:
		default:
			if problem := setNumber(plainNode(f.fallback, one.Type()), one); problem != "" {
				panic("host: default of " + f.key + ": " + problem)
			}
		}
	}
}

// plainNode makes a scalar as a file would hold it for a value of type t.
func plainNode(text string, t reflect.Type) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Value: text, Tag: "!!int"}
	switch {
	case t == durationType, t.Kind() == reflect.String:
		node.Tag = "!!str"
	case t.Kind() == reflect.Bool:
		node.Tag = "!!bool"
		if text != "true" && text != "false" {
			node.Tag = "!!str"
		}
	}
	return node
}
