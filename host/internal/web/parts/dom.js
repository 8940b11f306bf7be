// Builds what is shown. Text enters the page as text only; there is no way here to make markup of it.

/** @typedef {Node | string | null | false} Child */

/**
 * Makes an element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {{ [name: string]: string | boolean }} attributes true sets an attribute without a value, false leaves it out
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== false));
  return element;
}

/**
 * Finds an element of the page by its id.
 * @template {HTMLElement} Kind
 * @param {string} id
 * @param {new () => Kind} kind
 * @returns {Kind}
 */
export function find(id, kind) {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error("the page has no " + id);
  return element;
}

/**
 * Says something to a screen reader without moving its focus.
 * @param {string} text
 */
export function announce(text) {
  find("live", HTMLElement).textContent = text;
}

/**
 * Makes a button.
 * @param {string} label
 * @param {string} style class names
 * @param {() => void} press
 * @returns {HTMLButtonElement}
 */
export function button(label, style, press) {
  const element = make("button", { type: "button", class: style }, label);
  element.addEventListener("click", press);
  return element;
}

/**
 * Makes paragraphs of a text: an empty line begins a new one, other line breaks stay.
 * @param {string} text
 * @returns {HTMLElement[]}
 */
export function paragraphs(text) {
  return text.trim().split(/\n\s*\n/).map((part) => make("p", {}, part.trim()));
}

/**
 * Shows a moment in the reader's own words, and in full on demand.
 * @param {string} stamp RFC 3339
 * @returns {HTMLElement}
 */
export function moment(stamp) {
  const at = new Date(stamp);
  const words = at.toLocaleString([], { dateStyle: "medium", timeStyle: "medium" });
  return make("time", { datetime: stamp, title: stamp }, words);
}
