// The objects that results have described so far. Only a described object stands here: a reference to one lights it up, a
// reference to anything else does nothing.

import { find, make } from "./dom.js";
import { clipped, quoted } from "./inert.js";
import { object, text } from "./read.js";
import { chip } from "./value.js";

/** The most objects that are kept. The oldest go first. */
const MOST = 500;

/** How deep and how far an output is searched. */
const DEPTH = 6, PARTS = 5000;

/** An id of an object: a kind and a UUID, or a UUID. */
const ID = /^(?:[a-z][a-z0-9_.-]{0,63}:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * @typedef {object} Known
 * @property {string} id
 * @property {HTMLElement} line
 * @property {HTMLInputElement} chosen
 */

export class Objects {
  /** @type {Map<string, Known>} */ #known = new Map();
  /** @type {Set<() => void>} */ #listeners = new Set();
  /** @type {HTMLElement} */ #list = find("objects", HTMLElement);
  /** @type {HTMLElement} */ #none = find("no-objects", HTMLElement);

  /** @returns {string[]} ids, in the order in which they were described */
  ids() {
    return [...this.#known.keys()];
  }

  /** @returns {string[]} ids of the objects that the person has ticked */
  chosen() {
    return [...this.#known.values()].filter((known) => known.chosen.checked).map((known) => known.id);
  }

  /** @param {() => void} hear is told when the list has changed */
  onChange(hear) {
    this.#listeners.add(hear);
  }

  forget() {
    this.#known.clear();
    this.#list.replaceChildren();
    this.#changed();
  }

  /**
   * Takes in what an output describes: whatever has an id and a label.
   * @param {unknown} output
   */
  learn(output) {
    const before = this.#known.size;
    this.#search(output, { left: PARTS }, 0);
    if (this.#known.size !== before) this.#changed();
  }

  /**
   * Lights up the listed objects among the given ones, and no others.
   * @param {string[]} ids
   */
  highlight(ids) {
    const wanted = new Set(ids);
    for (const known of this.#known.values()) known.line.classList.toggle("lit", wanted.has(known.id));
  }

  /**
   * Shows references as text.
   * @param {string[]} ids
   * @returns {HTMLElement | null}
   */
  refsView(ids) {
    if (ids.length === 0) return null;
    const view = make("span", { class: "refs" });
    for (const id of ids.slice(0, 64)) view.append(quoted(clipped(id, 120), "ref"));
    return view;
  }

  /**
   * @param {unknown} value
   * @param {{ left: number }} budget
   * @param {number} depth
   */
  #search(value, budget, depth) {
    if (typeof value !== "object" || value === null || depth > DEPTH || budget.left-- <= 0) return;
    if (!Array.isArray(value)) {
      const fields = object(value);
      const id = text(fields.object_id) || text(fields.id);
      if (ID.test(id) && typeof fields.label === "string") this.#add(id, fields);
    }
    for (const member of Object.values(value)) this.#search(member, budget, depth + 1);
  }

  /**
   * @param {string} id
   * @param {import("./read.js").Fields} fields
   */
  #add(id, fields) {
    const before = this.#known.get(id);
    const words = [text(fields.object_kind), text(fields.type), text(fields.state)].filter((word) => word !== "");
    if (before !== undefined && words.length === 0) return; // a search knows less than a reading
    const chosen = before?.chosen ?? make("input", { type: "checkbox", class: "choose" });
    const line = before?.line ?? make("li", { class: "object" });
    line.replaceChildren(make("label", {}, chosen,
      make("span", { class: "what" }, quoted(clipped(text(fields.label), 200) || "(no label)", "label"), " ", quoted(id, "id"))),
    make("span", { class: "chips" }, ...words.map((word) => chip(word))));
    if (before !== undefined) return;
    this.#known.set(id, { id, line, chosen });
    this.#list.append(line);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST && oldest !== undefined) {
      this.#known.get(oldest)?.line.remove();
      this.#known.delete(oldest);
    }
  }

  #changed() {
    this.#none.hidden = this.#known.size > 0;
    for (const hear of this.#listeners) hear();
  }
}
