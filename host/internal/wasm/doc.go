// Package wasm runs plugins in a sandbox: every call finds the plugin as it was at its start, sees only what the
// operator granted, and ends within its limits. Whatever goes wrong is a *Failure with a stable code, never an answer.
//
// A pure plugin (policy, scope, guard) sees no world: its clock stands still, its randomness follows from its input,
// its environment is empty and it holds no descriptor, so the same question has the same answer later. What a file
// grant opens is left to package capability; what a plugin's word is worth is left to the gate.
package wasm
