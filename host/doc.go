// Package host assembles the house: from a configuration it builds the ledger, the plugin host, the gate, the agent,
// the dispatcher and the HTTP face, wires them, and undoes what it built when a step fails. It decides about no call
// and no run; whoever wants to know how something is decided follows a call through the rooms.
//
// # A call walks through the house
//
// The model asks for a tool. agent shows the call to gate.Check: is the tool visible to this run? The scope plugin
// bounds its arguments and policy clamps them again. policy.Rules decide, then every policy plugin may tighten: the
// strictest opinion wins, and a plugin that fails denies. agent commits the call with its final arguments to the
// ledger, which tells the readers. When the decision is require_approval, the call goes to the approval desk with an
// ask_user event and the run is parked: it holds no worker until a person or time has answered. Then gate.Do: the
// decision is recorded in the books and committed, and only after that a Wasm instance or the MCP bridge runs the
// tool. The result passes the scope filter, its outcome is recorded, and agent commits the tool_result. One
// direction, each step a short function; no tool can be reached in another way.
//
// # A checked answer leaves the house
//
// A question on web/chat or its like is a run with a profile, driven by the same agent through the same gate. harness
// made the profiles once: a router that names one, what its model is told, which tools it has, the executors that bound
// it, and an exit. What the model writes at the end is a draft; release makes it typed, gathers the evidence that the
// run's results hold, and asks every guard, each a plugin. Released, sent back once, or replaced by a fixed sentence:
// only then is there an answer, and the face knows nothing but events.
//
// # Where to read on
//
//   - run: the nouns. Run, Event, Approval, Decision and their states.
//   - gate: the one door to every tool. Visible, Check, Do. policy: rules and the scope clamp, pure functions. approval:
//     the desk where calls wait; notify: who is told of it. audit: the books.
//   - wasm and capability: how a module runs and what it may touch. plugins/files, plugins/shell and the
//     folders of policies are such modules, built by plugins/builtin; plugins/mcpbridge, plugins/evidence and handle are
//     native.
//   - trust: whose code a module is. admission.go, generation.go, reload.go and retire.go: how plugins come, change while
//     the service runs, and go; nothing half built is ever asked.
//   - agent and model: the loop from question to answer. skill: what the operator wrote down for it; release: what an
//     answer must not name, and the exit of checked ones. harness and executor: what guarded runs share.
//   - ledger: what is true; nothing is sent before it is stored.
//   - dispatch: who drives a run, and when.
//   - gateway and localagent: tool calls of agents that keep no runs, and the runtime of a local model above them.
//     research: plans, a person's grants, and the contacts made under them, through the same gate.
//   - web and its faces fastreact, chat, agenttools and console: what all this looks like on the wire. passport: who holds a token.
//   - cmd/fastreact: the commands. Those that talk to a running service do so over HTTP, by sdk/client.
package host
