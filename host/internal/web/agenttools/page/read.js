// Reads what the service answers. A member that is missing or of another type becomes the empty value of the type that is
// wanted; nothing is guessed, and nothing of it is ever looked up as a property of the page.

/** @typedef {{ [key: string]: unknown }} Fields */

/**
 * @param {unknown} value
 * @returns {Fields}
 */
export function object(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? /** @type {Fields} */ (value) : {};
}

/**
 * @param {unknown} value
 * @returns {unknown[]}
 */
export function list(value) {
  return Array.isArray(value) ? value : [];
}

/**
 * @param {unknown} value
 * @returns {string}
 */
export function text(value) {
  return typeof value === "string" ? value : "";
}

/**
 * @param {unknown} value
 * @returns {number}
 */
export function number(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/**
 * @param {unknown} value
 * @returns {string[]}
 */
export function texts(value) {
  return list(value).filter((item) => typeof item === "string");
}

/**
 * Reads a list of references.
 * @param {unknown} value
 * @returns {string[]} the ids of objects
 */
export function refs(value) {
  return list(value).map((item) => text(object(item).object_id)).filter((id) => id !== "");
}

/**
 * A number that no other request has: a version 4 UUID.
 * @returns {string}
 */
export function newID() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] ?? 0) & 0x0f | 0x40;
  bytes[8] = (bytes[8] ?? 0) & 0x3f | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
