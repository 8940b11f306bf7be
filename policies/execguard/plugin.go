// Package execguard judges shell commands before they run: "safe", "caution", "danger" or "forbidden", said as the
// policy actions allow, caution, require_approval and deny.
//
// A command is parsed, never matched as text. Every simple command in it counts, wherever it stands, and the worst
// one decides. Whatever cannot be read or known beforehand is danger. The package looks at nothing but the command:
// no file, no environment, no clock.
package execguard

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/fastreact/fastreact/sdk"
	"github.com/fastreact/fastreact/sdk/wire"
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
	r := wire.NewReader(args)
	if r.Kind() != wire.Object {
		return nil, errors.New("the arguments are no JSON object")
	}
	var commands []string
	for name := range r.Members() {
		if !strings.EqualFold(string(name), "command") {
			r.Skip()
			continue
		}
		if kind := r.Kind(); kind != wire.Text && kind != wire.Nothing {
			return nil, errors.New("the command is no text")
		}
		commands = append(commands, r.Text())
	}
	if r.End() != nil {
		return nil, errors.New("the arguments are not valid JSON")
	}
	if len(commands) == 0 {
		return nil, errors.New("the arguments hold no command")
	}
	return commands, nil
}
