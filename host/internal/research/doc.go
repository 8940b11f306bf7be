// Package research promises that nobody outside is contacted before a person has granted exactly that contact. It keeps
// the plan of each workspace's research, what a person decided about its actions, the campaigns admitted under a grant
// and what came of them, all of it in the ledger and nowhere else.
//
// A refused action stays refused as long as its plan lives. An action is contacted at most once, also when the process
// dies in between: then its result is unknown, and it is not tried again. A grant is bound to the arguments and to the
// provider that were in force when a person gave it; the gate compares both again, and whatever changed since is not
// contacted. There is no tool that grants, and the tool that contacts is of no use without a campaign.
//
// The rules are pure functions over the entries of the ledger; the Desk reads, asks them, and appends. Who counts as a
// person is left to the face, and whether a tool may run to the gate.
package research
