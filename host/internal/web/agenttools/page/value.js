// Shows values of any shape, as text only.

import { button, make } from "./dom.js";
import { clipped, plain, quoted } from "./inert.js";

/** The most parts of one value that are shown one by one, and the deepest. */
const PARTS = 300, DEPTH = 6;

/** The longest text inside a value, in characters. */
const LONGEST = 2000;

/**
 * Shows a value as nested lists. What is too much for that is in its JSON.
 * @param {unknown} value
 * @returns {HTMLElement}
 */
export function valueView(value) {
  return part(value, { left: PARTS }, 0);
}

/**
 * @param {unknown} value
 * @param {{ left: number }} budget
 * @param {number} depth
 * @returns {HTMLElement}
 */
function part(value, budget, depth) {
  budget.left--;
  if (typeof value === "string") return quoted(clipped(value, LONGEST), value === "" ? "nothing" : "");
  if (typeof value !== "object" || value === null) return make("code", {}, String(value));
  const entries = Object.entries(value);
  if (entries.length === 0) return make("span", { class: "muted" }, Array.isArray(value) ? "none" : "empty");
  if (depth >= DEPTH) return make("span", { class: "muted" }, "…");
  const view = Array.isArray(value) ? make("ol", { class: "values" }) : make("dl", { class: "members" });
  for (const [key, member] of entries) {
    if (budget.left <= 0) {
      view.append(make(Array.isArray(value) ? "li" : "div", { class: "muted" }, "and more"));
      break;
    }
    const shown = part(member, budget, depth + 1);
    view.append(Array.isArray(value)
      ? make("li", {}, shown)
      : make("div", {}, make("dt", {}, quoted(clipped(key, 80))), make("dd", {}, shown)));
  }
  return view;
}

/**
 * A value as JSON, written when somebody opens it.
 * @param {unknown} value
 * @returns {HTMLElement}
 */
export function jsonView(value) {
  const view = make("details", { class: "json" }, make("summary", {}, "As JSON"));
  view.addEventListener("toggle", () => {
    if (view.open && view.childElementCount === 1) {
      view.append(make("pre", { dir: "ltr", tabindex: "0" }, plain(JSON.stringify(value, null, 2))));
    }
  });
  return view;
}

/**
 * A line of facts. Facts without a value are left out.
 * @param {...[string, Node | string | null]} rows
 * @returns {HTMLElement}
 */
export function facts(...rows) {
  return make("dl", { class: "facts" }, ...rows.filter(([, value]) => value !== null && value !== "").map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

/**
 * A short word in a frame, as it came.
 * @param {string} word
 * @param {string} [tone] good, bad or wait; without one it is neutral
 * @returns {HTMLElement}
 */
export function chip(word, tone = "") {
  return make("bdi", { class: ("chip " + tone).trim() }, plain(clipped(word, 80)));
}

/** @type {Map<string, string>} */
const TONES = new Map([
  ["COMPLETED", "good"], ["AVAILABLE", "good"], ["NEW", "good"], ["UNCHANGED", "good"], ["FAILED", "bad"], ["DENIED", "bad"],
  ["UNAVAILABLE", "wait"], ["AUTHORIZATION_REQUIRED", "wait"], ["CANCELLED", "wait"], ["MODEL_UNAVAILABLE", "bad"],
  ["MODEL_PROTOCOL_ERROR", "bad"], ["BUDGET_EXHAUSTED", "bad"], ["UNKNOWN", "bad"],
]);

/**
 * A state as it came. Those that the protocol names have a tone.
 * @param {string} state
 * @returns {HTMLElement}
 */
export function stateChip(state) {
  return chip(state, TONES.get(state) ?? "");
}

/**
 * A button that shows something below itself and takes it away again.
 * @param {string} label
 * @param {() => Promise<HTMLElement>} load
 * @returns {HTMLElement}
 */
export function disclosure(label, load) {
  const box = make("div", { class: "disclosed" });
  const press = button(label, "quiet small", async () => {
    if (box.childElementCount > 0) {
      box.replaceChildren();
      press.setAttribute("aria-expanded", "false");
      return;
    }
    press.disabled = true;
    box.replaceChildren(await load());
    press.disabled = false;
    press.setAttribute("aria-expanded", "true");
  });
  press.setAttribute("aria-expanded", "false");
  return make("div", { class: "disclosure" }, press, box);
}
