// A policy in AssemblyScript: what the model writes is a note, never a hidden file or a script.
import { EVALUATE, answer, failure, input } from "../../../sdk/assemblyscript/fastreact"
import { isText, member, quote, textOf } from "../../../sdk/assemblyscript/json"

export { fastreact_abi, fastreact_alloc } from "../../../sdk/assemblyscript/fastreact"

// The host calls this. A question that is none traps, which the host denies.
export function fastreact_call(op: i32, ptr: usize, len: i32): i64 {
  if (op != EVALUATE) return failure()
  const path = member(member(input(ptr, len), "args"), "path")
  if (!isText(path)) return failure()
  const name = textOf(path)
  if (isNote(name)) return answer('{"action":"allow"}')
  return answer('{"action":"deny","reason":' + quote(name + " is no note: write .md or .txt files") + "}")
}

function isNote(path: string): bool {
  const name = path.substring(path.lastIndexOf("/") + 1)
  return !name.startsWith(".") && (name.endsWith(".md") || name.endsWith(".txt"))
}
