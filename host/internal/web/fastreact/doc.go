// Package fastreact speaks the FastReAct service protocol, fastreact.agent_event.v1: chat, background runs, their
// events as JSON and as server-sent events, traces, approvals, policy and metrics.
//
// It promises that every reader of a run sees the same bytes, live or replayed, because all of them read the log. It
// translates every kind of event and every code of failure. It decides nothing: running, approving and judging are
// left to those it asks.
package fastreact
