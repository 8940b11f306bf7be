// Cuts a byte stream into complete named server-sent events. What is no such event ends the stream: this reader
// promises that nobody behind it sees half a frame, a frame without a name, or bytes that are no UTF-8.

/**
 * @typedef {object} Frame
 * @property {string} event name of the event, never empty
 * @property {string} data its data lines, joined by line feeds
 */

/** Reports that a stream broke the protocol. Its message says how, for a person who looks into it. */
export class Violation extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "Violation";
  }
}

/** The longest frame in UTF-16 code units; a released report is far below it. */
export const MAX_FRAME = 8 * 1024 * 1024;

/** Reads chunks of bytes, cut anywhere. After a Violation it is of no more use. */
export class FrameReader {
  /** @type {TextDecoder} */ #decoder = new TextDecoder("utf-8", { fatal: true });
  /** @type {string[]} pieces of the line that has not ended yet */ #pieces = [];
  /** @type {boolean} the last character was a CR: an LF now belongs to it */ #afterCR = false;
  /** @type {string | null} */ #event = null;
  /** @type {string[] | null} */ #data = null;
  /** @type {number} code units of the frame under way */ #size = 0;
  /** @type {number} */ #limit;

  /** @param {number} [limit] longest frame in code units */
  constructor(limit = MAX_FRAME) {
    this.#limit = limit;
  }

  /**
   * Takes the next bytes and returns the frames that became complete with them.
   * @param {Uint8Array} bytes
   * @returns {Frame[]}
   */
  push(bytes) {
    return this.#read(this.#decode(bytes, true));
  }

  /** Says that the stream ended. A frame or a character that is not complete is a Violation. */
  end() {
    this.#read(this.#decode(new Uint8Array(), false));
    if (this.#pieces.length > 0 || this.#event !== null || this.#data !== null) {
      throw new Violation("the stream ended inside a frame");
    }
  }

  /**
   * @param {Uint8Array} bytes
   * @param {boolean} stream
   * @returns {string}
   */
  #decode(bytes, stream) {
    try {
      return this.#decoder.decode(bytes, { stream });
    } catch {
      throw new Violation("the stream is not UTF-8");
    }
  }

  /**
   * @param {string} text
   * @returns {Frame[]}
   */
  #read(text) {
    /** @type {Frame[]} */
    const frames = [];
    let from = 0;
    if (this.#afterCR && text.length > 0) {
      this.#afterCR = false;
      if (text[0] === "\n") from = 1;
    }
    const breaks = /\r\n|\r|\n/g;
    breaks.lastIndex = from;
    for (let found = breaks.exec(text); found; found = breaks.exec(text)) {
      this.#hold(text.slice(from, found.index));
      const frame = this.#line(this.#take());
      if (frame) frames.push(frame);
      from = breaks.lastIndex;
      if (found[0] === "\r" && from === text.length) this.#afterCR = true;
    }
    this.#hold(text.slice(from));
    return frames;
  }

  /** @param {string} piece */
  #hold(piece) {
    if (piece === "") return;
    this.#size += piece.length;
    if (this.#size > this.#limit) throw new Violation("a frame is too long");
    this.#pieces.push(piece);
  }

  /** @returns {string} */
  #take() {
    const line = this.#pieces.join("");
    this.#pieces = [];
    return line;
  }

  /**
   * @param {string} line
   * @returns {Frame | null} the frame that ends with this line
   */
  #line(line) {
    if (line === "") return this.#finish();
    if (line.startsWith(":")) {
      this.#size -= line.length;
      return null;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    switch (field) {
      case "event":
        if (this.#event !== null || value === "") throw new Violation("a frame does not have exactly one name");
        this.#event = value;
        break;
      case "data":
        (this.#data ??= []).push(value);
        break;
      default:
        throw new Violation("a frame has a field that is not event or data");
    }
    return null;
  }

  /** @returns {Frame | null} */
  #finish() {
    const event = this.#event;
    const data = this.#data;
    this.#event = null;
    this.#data = null;
    this.#size = 0;
    if (event === null && data === null) return null;
    if (event === null) throw new Violation("a frame has no name");
    if (data === null) throw new Violation("a frame has no data");
    return { event, data: data.join("\n") };
  }
}
