package wasm

import (
	"bytes"
	"context"
)

// extismSettings serves the settings that the operator gave the plugin, and variables. A variable lives as long as
// its call: nothing crosses from one to the next.
func extismSettings() map[string]extismFunction {
	return map[string]extismFunction{
		"config_get": {"", signature{typeI64, typeI64}, func(_ context.Context, v *visit, s []uint64) {
			s[0] = v.extism.arena.put([]byte(v.settings[string(v.extism.arena.whole(s[0]))]))
		}},
		"var_get": {"", signature{typeI64, typeI64}, func(_ context.Context, v *visit, s []uint64) {
			value := v.extism.vars[string(v.extism.arena.whole(s[0]))]
			v.extism.arena.spend(s[0])
			s[0] = v.extism.arena.put(value)
		}},
		"var_set": {"", signature{typeI64 + typeI64, ""}, func(_ context.Context, v *visit, s []uint64) {
			v.extism.setVar(string(v.extism.arena.whole(s[0])), v.extism.arena.whole(s[1]), s[1] != 0)
			v.extism.arena.spend(s[0])
			v.extism.arena.spend(s[1])
		}},
	}
}

// setVar keeps a copy of value, or forgets the variable. Variables are charged to the arena.
func (v *extismVisit) setVar(name string, value []byte, keep bool) {
	if old, there := v.vars[name]; there {
		v.arena.used -= len(name) + len(old) + blockCost
		delete(v.vars, name)
	}
	if !keep {
		return
	}
	size := len(name) + len(value)
	v.arena.reserve(uint64(size))
	if v.vars == nil {
		v.vars = map[string][]byte{}
	}
	v.vars[name] = bytes.Clone(value)
	v.arena.used += size + blockCost
}
