// Reads JSON without tolerance: an object has exactly the keys that were agreed, each once, each with a value of its
// type. Anything else is a Violation.

import { Violation } from "./frames.js";

/** @typedef {{ [key: string]: unknown }} Fields */

/**
 * Parses one JSON object in which no key stands twice.
 * @param {string} text
 * @returns {Fields}
 */
export function readObject(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Violation("data is not JSON");
  }
  refuseDoubleKeys(text);
  return asObject(value);
}

/**
 * A parser keeps the last of two keys and says nothing; two readers could see two different answers.
 * @param {string} text valid JSON
 */
function refuseDoubleKeys(text) {
  /** @type {Set<string>[]} */
  const open = [];
  const tokens = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;
  for (let found = tokens.exec(text); found; found = tokens.exec(text)) {
    const token = found[0];
    if (token === "{" || token === "[") {
      open.push(new Set());
    } else if (token === "}" || token === "]") {
      open.pop();
    } else if (found[1] !== undefined) {
      const key = JSON.parse(token.slice(0, token.length - found[1].length));
      const keys = open[open.length - 1];
      if (keys.has(key)) throw new Violation("data has a key twice");
      keys.add(key);
    }
  }
}

/**
 * @param {unknown} value
 * @returns {Fields}
 */
export function asObject(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Violation("data is not an object");
  return /** @type {Fields} */ (value);
}

/**
 * @param {Fields} object
 * @param {string[]} keys all that there may and must be
 */
export function haveKeys(object, keys) {
  const own = Object.keys(object);
  if (own.length !== keys.length || !keys.every((key) => Object.hasOwn(object, key))) {
    throw new Violation("data does not have exactly the keys " + keys.join(", "));
  }
}

/**
 * @param {unknown} value
 * @returns {string} not blank
 */
export function asText(value) {
  if (typeof value !== "string" || value.trim() === "") throw new Violation("a text is missing");
  return value;
}

/**
 * @param {unknown} value
 * @returns {string} an identifier: short, printable, without spaces
 */
export function asID(value) {
  if (typeof value !== "string" || !/^[\x21-\x7e]{1,256}$/.test(value)) throw new Violation("an id is not valid");
  return value;
}

/**
 * @template {string} Word
 * @param {unknown} value
 * @param {readonly Word[]} words
 * @returns {Word}
 */
export function asOneOf(value, words) {
  const found = words.find((word) => word === value);
  if (found === undefined) throw new Violation("a word is none of " + words.join(", "));
  return found;
}

/**
 * @template Item
 * @param {unknown} value
 * @param {(item: unknown) => Item} read
 * @returns {Item[]}
 */
export function asList(value, read) {
  if (!Array.isArray(value)) throw new Violation("a list is missing");
  return value.map(read);
}
