// Package meter makes a WebAssembly module that cannot run for free: Rewrite returns the same program, which counts its
// work, asks the host when it has used up what it was given, and shows the state that a snapshot has to keep.
//
// It reads and writes bytes, nothing else; who compiles and runs the result, and what a tick decides, is the plugin
// host's business. The result is deterministic, and so is the fuel that a run of it uses.
//
// # Fuel
//
// Fuel is a global. Code is cut into regions: a function's begins where the function does, a loop's where a turn of it
// begins, and a further one behind the end of every block that is not small. A region is charged where it begins, by the
// price of its instructions; all ways to them lead through there. At the beginning of a function and of a turn the module
// asks whether fuel is left. Below zero it calls the imported function tick, which answers with the fuel to go on with, or
// ends the guest. A tiny function without loops and calls is not charged itself: its callers are, and an indirect call is
// charged as if it met the largest such function. So there is no way to run long without being charged: neither a loop
// nor a chain of calls.
//
// The price of an instruction is static: most cost 1, a division or a square root 4, an indirect call a little more. So a
// unit of fuel is about one instruction, some 0.3 ns. Where ways meet, values that have to be carried along are charged
// beyond the first 32, half a unit each. Operations on many bytes cost by size, one for each 8 bytes, and one for each
// entry of a table. memory.fill and memory.copy of more than 1 MiB are done in pieces, each charged; the bounds are
// checked before the first, so that a trapping one has written nothing. memory.init and the operations on tables are
// charged in one: the former is bounded by the size of the module, the latter by the maximum of a table. memory.grow costs
// as much as filling the new pages.
//
// # Ticks
//
// tick(reason i32, fuel i64) i64 is called with FuelSpent when fuel fell below zero; with HostCall before every call of
// an imported function, directly, through a table or as the start function; and with TooDeep when calls are nested too
// deeply, where the answer is ignored and the guest ends. fuel is what is left, maybe less than zero; the answer takes
// its place. Every instance starts with no fuel. A slice of some 100,000 keeps the time between two ticks far below a
// millisecond; how much a slice is does not change what a call costs.
//
// # Depth
//
// A second global counts down from CallDepth. A function that may call itself again through others takes its weight
// from it and gives it back when it returns. The weight is 1, and more for functions with large frames: one for each 32
// parameters and locals, and one for each 128 values that the engine may have to keep there. A guest that traps gives
// nothing back: its instance has to be discarded.
//
// # Limits
//
// The maximum of every memory and table of the module is lowered to the options', and written where none is declared. A
// minimum above it is refused. Imported memories and tables keep their types: their owner limits them.
//
// # Refused
//
// Malformed modules as far as the rewriter reads them (the engine validates the result). Features beyond core version 2
// except constant expressions with arithmetic: threads and shared memories, tail calls, exceptions, typed function
// references, tables with an initial value, 64-bit and several memories. More than 50,000 locals or 1,000 parameters or
// results of one function, 100,000 types, imports, functions or globals, or more values where ways meet than a module of
// its size has: the engine's compiler would take minutes. Imports and exports with names that begin like the meter's own.
//
// # Snapshots
//
// The result says whether there is something that restoring memory and globals does not undo: table.set, table.grow,
// table.fill, table.copy, table.init, elem.drop, mutable globals that hold references or vectors, and data.drop in a
// module that also uses memory.init (without memory.init nobody can see it).
//
// # Custom sections
//
// fastreact.manifest is kept. Of the name section the names of the module, functions, locals, types, tables, memories,
// globals and segments are kept, functions under their new indices; label names are dropped, because labels move. All
// other custom sections are dropped: debug sections would point to the wrong places.
package meter
