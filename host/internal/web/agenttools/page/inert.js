// Shows text of others so that it can do nothing but be read: what would steer a terminal, turn the direction of what
// stands around it or hide is written out, and each piece is isolated from its neighbours.

import { make } from "./dom.js";

/**
 * Controls but tab and line feed, marks and overrides of direction, and characters that nobody can see. The joiners
 * (U+200C, U+200D) stay: scripts and pictures are written with them.
 */
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/gu;

/**
 * Writes out what would steer or hide: U+202E becomes the eight characters ‹U+202E›.
 * @param {string} text
 * @returns {string}
 */
export function plain(text) {
  return text.replace(STEERING, (character) => {
    const number = character.codePointAt(0) ?? 0;
    return "‹U+" + number.toString(16).toUpperCase().padStart(4, "0") + "›";
  });
}

/**
 * A piece of somebody else's text inside a line. It has its own direction.
 * @param {string} text
 * @param {string} [style] class names
 * @returns {HTMLElement}
 */
export function quoted(text, style = "") {
  return make("bdi", style === "" ? {} : { class: style }, plain(text));
}

/**
 * Somebody else's text as a paragraph, line breaks kept.
 * @param {string} text
 * @param {string} [style] class names
 * @returns {HTMLElement}
 */
export function passage(text, style = "") {
  return make("p", { dir: "auto", class: ("passage " + style).trim() }, plain(text));
}

/**
 * Cuts a text after a number of characters, and says so.
 * @param {string} text
 * @param {number} most
 * @returns {string}
 */
export function clipped(text, most) {
  if (text.length <= most) return text;
  const characters = [...text];
  if (characters.length <= most) return text;
  return characters.slice(0, most).join("") + " … (" + (characters.length - most) + " more characters)";
}
