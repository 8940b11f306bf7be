// Package house keeps the house in order: it promises that every package stands in floorplan.txt and imports only what
// the plan allows, and that sources stay small, documented and free of hidden state.
//
// The rules are ordinary functions over parsed sources; the tests run them on this module. What code does is left to
// everybody else.
package house
