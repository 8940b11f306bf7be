// Package release decides what may leave as an answer. It promises that no answer names a tool, a marker of the runtime
// or one of the words GraphRAG, FastReAct and MCP, unless the person who asked or a tool said it first: "Final answer
// text must not expose GraphRAG, FastReAct, MCP, tool routing, or tool status."
//
// It is pure text: who asks a model to put an answer better, and what is said when nothing is left of one, is left to
// the agent.
package release
