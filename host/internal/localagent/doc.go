// Package localagent drives the turns of one model that runs on this machine. It promises that a model only ever
// names a tool of the catalogue or ends its turn, that every call goes through the gateway, that a turn which waits for
// a person asks the model nothing, and that a cancelled turn stays cancelled whatever comes late.
//
// What a tool does and who may use it is left to the gateway, whether a person has decided to whoever keeps the
// grants, how a model is reached to the model. Nothing is stored: a restart forgets every turn.
package localagent
