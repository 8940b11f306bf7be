// The guest ABI of FastReAct plugins, version 1, for AssemblyScript. A plugin's entry file exports the two functions
// below and one of its own:
//
//   import { input, answer, failure } from "…/sdk/assemblyscript/fastreact"
//   export { fastreact_abi, fastreact_alloc } from "…/sdk/assemblyscript/fastreact"
//   export function fastreact_call(op: i32, ptr: usize, len: i32): i64 {
//     return op == EVALUATE ? answer(…JSON text made from input(ptr, len)…) : failure()
//   }
//
// Build it with asc --runtime incremental --use abort= so that it imports nothing: the host grants nothing to a
// policy, and an abort then ends the call, which the host denies. `fastreact plugin build` does not know AssemblyScript;
// the load entry names the plugin's manifest file beside the module.

// The operations.
export const CALL: i32 = 1
export const EVALUATE: i32 = 2
export const INJECT: i32 = 3
export const FILTER: i32 = 4
export const REVIEW: i32 = 5

// What the host writes and reads between two calls is kept alive here, so that the collector leaves it alone.
let room: ArrayBuffer = new ArrayBuffer(0)
let said: ArrayBuffer = new ArrayBuffer(0)

/** Version of the guest ABI. */
export function fastreact_abi(): i32 {
  return 1
}

/** Gives room for len bytes that the host will write. */
export function fastreact_alloc(len: i32): usize {
  room = new ArrayBuffer(max(len, 1)) // address 0 would mean that there is no room
  return changetype<usize>(room)
}

/** Returns what the host wrote, as JSON text: see member and textOf in json.ts. */
export function input(ptr: usize, len: i32): string {
  return String.UTF8.decodeUnsafe(ptr, <usize>len)
}

/** Returns a JSON value to the host. It stays readable until the next answer. */
export function answer(json: string): i64 {
  said = String.UTF8.encode(json)
  return (<i64>changetype<usize>(said) << 32) | <i64>said.byteLength
}

/** Tells the host that the call failed. A policy that fails denies. */
export function failure(): i64 {
  return 0
}
