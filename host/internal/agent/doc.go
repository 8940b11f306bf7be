// Package agent is the loop that drives one run from its question to its answer. It promises that every call the
// model asks for gets exactly one result, that a run ends with exactly one terminal event, and that a run that was
// parked goes on as if it never stopped: its whole state is rebuilt from the log.
//
// Who drives a run and when is left to dispatch, what a call may do to the gate, what an event looks like on a wire
// to the faces.
package agent
