// Package execguard judges shell commands before they run: "safe", "caution", "danger" or "forbidden", said as the
// policy actions allow, caution, require_approval and deny.
//
// A command is parsed, never matched as text. Every simple command in it counts, wherever it stands, and the worst
// one decides. Whatever cannot be read or known beforehand is danger. The package looks at nothing but the command:
// no file, no environment, no clock.
package execguard

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/fastreact/fastreact/sdk"
)

// Plugin is the exec-guard policy. The zero value is ready and may be used by many goroutines at once.
type Plugin struct{}

// Evaluate judges the "command" argument of a call. It never fails: arguments that hold no command are danger.
func (Plugin) Evaluate(question sdk.Question) (sdk.Opinion, error) {
	commands, err := commandsIn(question.Args)
	if err != nil {
		return finding{level: danger, reason: sentence(err)}.opinion(), nil
	}
	worst := finding{level: safe, reason: "The command only reads."}
	if len(commands) > 1 {
		worst = finding{level: danger, reason: "The arguments name the command more than once."}
	}
	for _, command := range commands {
		worst = worst.or((&judge{}).program(command))
	}
	return worst.opinion(), nil
}

func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// commandsIn returns every command the arguments may mean: a tool may read key names without regard to case, and a
// doubled key either way.
func commandsIn(args json.RawMessage) ([]string, error) {
	decoder := json.NewDecoder(bytes.NewReader(args))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("the arguments are no JSON object")
	}
	var commands []string
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, errors.New("the arguments are not valid JSON")
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, errors.New("the arguments are not valid JSON")
		}
		name, _ := key.(string)
		if !strings.EqualFold(name, "command") {
			continue
		}
		var command *string
		if err := json.Unmarshal(value, &command); err != nil || command == nil {
			return nil, errors.New("the command is no text")
		}
		commands = append(commands, *command)
	}
	if len(commands) == 0 {
		return nil, errors.New("the arguments hold no command")
	}
	return commands, nil
}
