package host

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// printer turns a configuration back into a tree, with the origin of each value as a comment.
type printer struct {
	origin func(path string) Origin
	notes  map[string]string // more to say about the value at a path
}

// Print writes the effective configuration as YAML. Secrets are redacted, and a comment behind each value says where
// it comes from. What it writes loads again, except for redacted values.
func (l *Loaded) Print(w io.Writer) error {
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(l.tree()); err != nil {
		return fmt.Errorf("print configuration: %w", err)
	}
	return encoder.Close()
}

// PrintJSON writes the effective configuration and its origins as one JSON object. Secrets are redacted.
func (l *Loaded) PrintJSON(w io.Writer) error {
	var config map[string]any
	if err := l.tree().Decode(&config); err != nil {
		return fmt.Errorf("print configuration: %w", err)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(map[string]any{"file": l.File, "config": config, "origins": l.Origins})
}

func (l *Loaded) tree() *yaml.Node {
	p := printer{origin: l.Origin, notes: map[string]string{}}
	auth, model := l.Config.Auth, l.Config.Model
	p.noteSecret("auth.service_token", auth.ServiceToken, auth.ServiceTokenFile)
	p.noteSecret("auth.admin_token", auth.AdminToken, auth.AdminTokenFile)
	p.noteSecret("model.api_key", model.APIKey, model.APIKeyFile)
	p.noteSecret("store.dsn", l.Config.Store.DSN, l.Config.Store.DSNFile)
	p.noteSecret("approvals.notify.secret", l.Config.Approvals.Notify.Secret, l.Config.Approvals.Notify.SecretFile)
	for name, source := range l.Config.Harness.Chat.Evidence.MySQL.Datasources {
		p.noteSecret(join("harness.chat.evidence.mysql.datasources", name)+".dsn", source.DSN, source.DSNFile)
	}
	return p.section(reflect.ValueOf(l.Config), "")
}

func (p printer) noteSecret(path string, secret Secret, file string) {
	key := path + "_env"
	if file != "" {
		key = path + "_file"
	}
	p.notes[key] = "not set"
	if secret != "" {
		p.notes[key] = "set, " + redacted
	}
}

func (p printer) section(section reflect.Value, path string) *yaml.Node {
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range fieldsOf(section.Type()) {
		key := textNode(f.key)
		value := p.value(section.Field(f.index), join(path, f.key))
		if len(value.Content) > 0 && value.LineComment != "" {
			key.LineComment, value.LineComment = value.LineComment, ""
		}
		mapping.Content = append(mapping.Content, key, value)
	}
	return mapping
}

func (p printer) value(v reflect.Value, path string) *yaml.Node {
	switch {
	case v.Type() == treeType, v.Type() == rulesType:
		return p.comment(freeNode(v), path)
	case v.Type() == secretType:
		return p.comment(textNode(redacted), path)
	case v.Kind() == reflect.Struct:
		return p.section(v, path)
	case v.Kind() == reflect.Slice:
		return p.list(v, path)
	case v.Kind() == reflect.Map:
		return p.table(v, path)
	}
	return p.comment(scalarNode(v), path)
}

func (p printer) list(v reflect.Value, path string) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range v.Len() {
		list.Content = append(list.Content, p.value(v.Index(i), element(path, i)))
	}
	return p.comment(list, path)
}

func (p printer) table(v reflect.Value, path string) *yaml.Node {
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	keys := map[string]bool{}
	for _, key := range v.MapKeys() {
		keys[key.String()] = true
	}
	for _, key := range sortedKeys(keys) {
		mapping.Content = append(mapping.Content, textNode(key),
			p.value(v.MapIndex(reflect.ValueOf(key)), join(path, key)))
	}
	return p.comment(mapping, path)
}

// comment puts the origin behind a scalar, or behind an empty list or mapping.
func (p printer) comment(node *yaml.Node, path string) *yaml.Node {
	if len(node.Content) > 0 {
		return node
	}
	if node.Kind != yaml.ScalarNode {
		node.Style = yaml.FlowStyle
	}
	node.LineComment = "# " + string(p.origin(path))
	if note := p.notes[path]; note != "" {
		node.LineComment += "; " + note
	}
	return node
}

func textNode(text string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(text)
	return node
}

func scalarNode(v reflect.Value) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode}
	switch {
	case v.Type() == durationType:
		node.Tag, node.Value = "!!str", durationText(durationOf(v))
	case v.Kind() == reflect.String:
		return textNode(v.String())
	case v.Kind() == reflect.Bool:
		node.Tag, node.Value = "!!bool", strconv.FormatBool(v.Bool())
	default:
		node.Tag, node.Value = "!!int", strconv.FormatInt(integerOf(v), 10)
	}
	return node
}

// freeNode writes a tree that the loader made: it is always plain data.
func freeNode(v reflect.Value) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode}
	if v.Len() == 0 {
		return node
	}
	text, isJSON := v.Interface().(Tree)
	if !isJSON {
		text, _ = json.Marshal(v.Interface()) // strings and mappings cannot fail
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil || len(document.Content) == 0 {
		return node
	}
	plain(document.Content[0])
	return document.Content[0]
}

// plain removes the JSON look of a tree.
func plain(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && node.Tag == "!!str" {
		*node = *textNode(node.Value)
		return
	}
	node.Style = 0
	for _, content := range node.Content {
		plain(content)
	}
}
