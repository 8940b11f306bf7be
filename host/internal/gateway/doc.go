// Package gateway promises that an agent's tool calls pass the gate and leave nothing behind. It keeps the catalogue of
// nine tools, the rings of calls, results, events and turns of one active workspace, and the deterministic agent that
// walks through an investigation until a person has to decide. All of it lives in memory and ends with the process.
//
// What a client asks for is validated whole before anything happens; a repeated intention is answered, not executed
// again; whatever a tool answers is data, which selects no tool and no right. What a tool does is left to the sources
// behind the gate, the research and its grants to the desk that keeps them, and the wire to the face.
package gateway
