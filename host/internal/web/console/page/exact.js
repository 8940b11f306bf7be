// Shows JSON from elsewhere exactly: numbers as they were written, and whatever a screen would obey or hide as an escape.

/** What a screen acts on, or shows nothing for: control, formatting and bidirectional characters, spaces that are no space. */
const HIDDEN = /(?! )[\p{Cc}\p{Cf}\p{Z}\p{Co}\p{Cs}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800]/gu;

/**
 * @param {string} text
 * @returns {string} the text on one line, with nothing hidden in it
 */
export function plain(text) {
  return text.replace(HIDDEN, (character) => "\\u{" + (character.codePointAt(0) ?? 0).toString(16) + "}");
}

/** A parser rounds numbers. In a text that passed here they are strings behind a mark that nobody can foresee. */
export class Marked {
  #mark = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

  /**
   * @param {string} json
   * @returns {string} the same, with every number marked
   */
  mark(json) {
    const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
    return json.replace(tokens, (token) => token.startsWith('"') ? token : '"' + this.#mark + token + '"');
  }

  /**
   * @param {unknown} value of JSON that was marked
   * @returns {string} its JSON for people, with the numbers as they stood
   */
  show(value) {
    const numbers = new RegExp('"' + this.#mark + '([^"]*)"', "g");
    return JSON.stringify(value, null, 2).replace(numbers, "$1").split("\n").map(plain).join("\n");
  }
}
