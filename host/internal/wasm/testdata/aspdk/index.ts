// An Extism module as its AssemblyScript PDK makes it: some tools that use every part of the guest ABI.
import { Config, Host, LogLevel, Var } from "@extism/as-pdk"

export function echo(): i32 {
  Host.output(Host.input())
  return 0
}

export function vowels(): i32 {
  const text = Host.inputString()
  let count = 0
  for (let i = 0; i < text.length; i++) if ("aeiouAEIOU".includes(text.charAt(i))) count++
  Host.log(LogLevel.Info, "counted")
  Host.outputString('{"count":' + count.toString() + "}")
  return 0
}

export function setting(): i32 {
  const value = Config.get(Host.inputString())
  Host.outputString(value == null ? "none" : value!)
  return 0
}

export function remember(): i32 {
  const before = Var.getString("last")
  Var.set("last", Host.input())
  const after = Var.getString("last")
  Host.outputString((before == null ? "nothing" : before!) + ", then " + (after == null ? "nothing" : after!))
  return 0
}

export function fails(): i32 {
  return 1
}
