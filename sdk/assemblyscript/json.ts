// Just enough JSON for a plugin: members of objects, texts, and text back into JSON. What is no JSON ends the call.
// It is here because a policy must see the same text as whoever acts on it: json-as 1.6.0 reads \/ as U+0000 and takes
// a quote behind an escaped backslash for an escaped one, so a path could be hidden from a policy that uses it.

const QUOTE: i32 = 0x22
const BACKSLASH: i32 = 0x5c
const MAX_DEPTH: i32 = 500

/** Returns the JSON text of an object's member, of the last one where several have the name; "" when there is none. */
export function member(json: string, name: string): string {
  const scan = new Scanner(json)
  let found = ""
  scan.expect(0x7b) // {
  if (scan.skip(0x7d)) return found // }
  do {
    const key = scan.text()
    scan.expect(0x3a) // :
    const value = scan.value(0)
    if (key == name) found = value
  } while (scan.skip(0x2c)) // ,
  scan.expect(0x7d)
  return found
}

/** Reports whether JSON text is a text. */
export function isText(json: string): bool {
  return json.length > 0 && json.charCodeAt(0) == QUOTE
}

/** Returns the text that JSON text stands for. */
export function textOf(json: string): string {
  return new Scanner(json).text()
}

/** Returns text as JSON. */
export function quote(text: string): string {
  let out = '"'
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit == QUOTE || unit == BACKSLASH) out += "\\" + String.fromCharCode(unit)
    else if (unit < 0x20) out += "\\u" + unit.toString(16).padStart(4, "0")
    else out += String.fromCharCode(unit)
  }
  return out + '"'
}

class Scanner {
  private at: i32 = 0
  constructor(private json: string) {}

  private peek(): i32 {
    return this.at < this.json.length ? this.json.charCodeAt(this.at) : -1
  }

  private space(): void {
    while (this.peek() == 0x20 || this.peek() == 0x09 || this.peek() == 0x0a || this.peek() == 0x0d) this.at++
  }

  /** Steps over a character and the white space around it, if it is next. */
  skip(unit: i32): bool {
    this.space()
    if (this.peek() != unit) return false
    this.at++
    this.space()
    return true
  }

  expect(unit: i32): void {
    if (!this.skip(unit)) unreachable()
  }

  /** Steps over a value and returns its JSON text. */
  value(depth: i32): string {
    if (depth > MAX_DEPTH) unreachable()
    this.space()
    const from = this.at
    const first = this.peek()
    if (first == QUOTE) this.text()
    else if (first == 0x7b || first == 0x5b) this.nested(first, depth + 1)
    else while (isPlain(this.peek())) this.at++
    if (this.at == from) unreachable()
    return this.json.substring(from, this.at)
  }

  private nested(open: i32, depth: i32): void {
    const close = open + 2 // } and ] stand two behind { and [
    this.expect(open)
    if (this.peek() != close) {
      do {
        if (open == 0x7b) {
          this.text()
          this.expect(0x3a)
        }
        this.value(depth)
      } while (this.skip(0x2c))
    }
    this.space()
    if (this.peek() != close) unreachable()
    this.at++
  }

  /** Steps over a text and returns what it stands for. */
  text(): string {
    this.space()
    if (this.peek() != QUOTE) unreachable()
    let out = ""
    let from = ++this.at
    for (; this.peek() != QUOTE; this.at++) {
      if (this.peek() < 0) unreachable()
      if (this.peek() != BACKSLASH) continue
      out += this.json.substring(from, this.at)
      this.at++
      out += String.fromCharCode(this.escaped())
      from = this.at + 1
    }
    return out + this.json.substring(from, this.at++)
  }

  /** Returns the unit that the escape at its second character stands for, and stops at its last one. */
  private escaped(): i32 {
    const unit = this.peek()
    switch (unit) {
      case QUOTE: case BACKSLASH: case 0x2f: return unit
      case 0x62: return 0x08 // b
      case 0x66: return 0x0c // f
      case 0x6e: return 0x0a // n
      case 0x72: return 0x0d // r
      case 0x74: return 0x09 // t
    }
    if (unit != 0x75 || this.at + 4 >= this.json.length) unreachable() // u
    let code = 0
    for (let i = 0; i < 4; i++) code = (code << 4) | digit(this.json.charCodeAt(++this.at))
    return code
  }
}

function digit(unit: i32): i32 {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30
  const letter = unit | 0x20
  if (letter < 0x61 || letter > 0x66) unreachable()
  return letter - 0x61 + 10
}

function isPlain(unit: i32): bool {
  return (unit >= 0x30 && unit <= 0x39) || (unit >= 0x61 && unit <= 0x7a) || unit == 0x2d || unit == 0x2b || unit == 0x2e || unit == 0x45
}
