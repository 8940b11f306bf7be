// Package model is the language model behind one port, Client. It promises that a reply is whole or an error: a
// stream that was cut, that went silent or that never said how it finished is never taken for an answer. Every call
// in a reply has a name and an id that is unique in its conversation, and nothing a vendor wrote and no API key
// reaches a public sentence.
//
// The package holds the OpenAI-compatible adapter, a scripted twin for tests and the demo model. What a call's
// arguments mean is left to the gate, the conversation to the agent.
package model
