// Package harness makes the one graph that every guarded run shares: three bounded executors, the router, the profiles
// of a diagnosis and of a general answer with what their models are told, and the exits through which alone their
// answers leave. It is built once and drained at the end. How a run goes on is the agent's, what may be said is decided
// by the exits, and what it looks like outside is a face's.
package harness
