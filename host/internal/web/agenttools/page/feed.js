// Asks again and again for what is new, one request at a time: often while something happens, seldom while nobody looks
// or the service does not answer.

import { get, Refusal, sentence } from "./api.js";
import { list, number, object, refs, text } from "./read.js";

/**
 * @typedef {object} Happening one event
 * @property {number} sequence
 * @property {string} at RFC 3339
 * @property {string} kind
 * @property {string} turn
 * @property {string} call empty: of no call
 * @property {string[]} refs
 * @property {import("./read.js").Fields} payload
 */

/** Times between two requests, in milliseconds. */
const LIVELY = 300, CALM = 1500, HIDDEN_FIRST = 2000, SELDOM = 30_000;

/** How long a feed stays lively after something happened, in milliseconds. */
const LIVELY_FOR = 5000;

/**
 * @param {unknown} value
 * @returns {Happening}
 */
function happening(value) {
  const fields = object(value);
  return {
    sequence: number(fields.sequence), at: text(fields.timestamp), kind: text(fields.kind), turn: text(fields.turn_id),
    call: text(fields.call_id), refs: refs(fields.object_refs), payload: object(fields.payload),
  };
}

/** What happens, read from one address from the beginning on. */
export class Feed {
  /** @type {string} */ #path;
  /** @type {(events: Happening[], gap: boolean) => void} */ #take;
  /** @type {(problem: string) => void} */ #trouble;
  /** @type {number} */ #cursor = 0;
  /** @type {number} */ #round = 0;
  /** @type {boolean} */ #running = false;
  /** @type {boolean} */ #asking = false;
  /** @type {boolean} */ #again = false;
  /** @type {number} */ #timer = 0;
  /** @type {number} */ #lively = 0;
  /** @type {number} */ #delay = CALM;

  /**
   * @param {string} path
   * @param {(events: Happening[], gap: boolean) => void} take hears of what is new, and whether something before it is lost
   * @param {(problem: string) => void} trouble hears a sentence when asking fails, and "" when it works again
   */
  constructor(path, take, trouble) {
    this.#path = path;
    this.#take = take;
    this.#trouble = trouble;
    document.addEventListener("visibilitychange", () => this.poke());
  }

  /** Begins anew, as if nothing had been read. */
  start() {
    this.#running = true;
    this.#cursor = 0;
    this.#round++;
    this.poke();
  }

  stop() {
    this.#running = false;
    this.#round++;
    window.clearTimeout(this.#timer);
  }

  /** Asks now, or as soon as the request that is under way has ended. */
  poke() {
    if (!this.#running) return;
    this.#lively = Date.now() + LIVELY_FOR;
    if (this.#asking) {
      this.#again = true;
      return;
    }
    window.clearTimeout(this.#timer);
    void this.#ask();
  }

  async #ask() {
    const round = this.#round;
    this.#asking = true;
    this.#again = false;
    let failed = false;
    try {
      const page = object(await get(this.#path + "?cursor=" + this.#cursor));
      if (round === this.#round) this.#read(page);
    } catch (cause) {
      failed = true;
      if (cause instanceof Refusal && cause.status === 401) this.stop();
      else if (round === this.#round) this.#trouble(sentence(cause));
    }
    this.#asking = false;
    if (!this.#running) return;
    this.#timer = window.setTimeout(() => this.#ask(), this.#again ? 0 : this.#pause(failed));
  }

  /** @param {import("./read.js").Fields} page */
  #read(page) {
    this.#trouble("");
    const cursor = number(page.cursor);
    const events = list(page.events).map(happening).filter((event) => event.sequence > this.#cursor);
    if (cursor < this.#cursor) { // another instance answers: what it has is all new
      this.#cursor = 0;
      this.#again = true;
      return this.#take([], true);
    }
    this.#cursor = Math.max(cursor, ...events.map((event) => event.sequence));
    if (events.length > 0) this.#lively = Date.now() + LIVELY_FOR;
    if (events.length > 0 || page.gap === true) this.#take(events, page.gap === true);
  }

  /** @param {boolean} failed */
  #pause(failed) {
    if (failed || document.hidden) {
      this.#delay = Math.min(Math.max(this.#delay * 2, HIDDEN_FIRST), SELDOM);
      return this.#delay;
    }
    this.#delay = Date.now() < this.#lively ? LIVELY : CALM;
    return this.#delay;
  }
}
