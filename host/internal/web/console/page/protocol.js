// The order of a chat stream: metadata, any number of statuses, one content or one failure, done. The machine has no
// way to take them in another order, and it gives nothing away before done has come.

import { Violation } from "./frames.js";
import { readContent } from "./payload.js";
import { asID, asOneOf, asText, haveKeys, readObject } from "./strict.js";

/**
 * @typedef {"ROUTING" | "PLANNING" | "COLLECTING_EVIDENCE" | "ANALYZING" | "VERIFYING" | "REPAIRING"} StatusCode
 * @typedef {"SUCCESS" | "FALLBACK" | "FAILED"} Outcome
 * @typedef {{ session_id: string, run_id: string }} Metadata
 * @typedef {{ code: StatusCode, message: string }} Status
 * @typedef {{ code: string, message: string }} Failure
 * @typedef {{ outcome: "SUCCESS" | "FALLBACK", content: import("./payload.js").Content } |
 *   { outcome: "FAILED", failure: Failure }} Result
 * @typedef {object} Listener
 * @property {(metadata: Metadata) => void} metadata
 * @property {(status: Status) => void} status
 */

/** @type {readonly StatusCode[]} */
export const STATUS_CODES = ["ROUTING", "PLANNING", "COLLECTING_EVIDENCE", "ANALYZING", "VERIFYING", "REPAIRING"];

/** Why a run can fail. */
export const FAILURE_CODES = [
  "CHAT_ROUTING_FAILED", "CHAT_MODEL_UNAVAILABLE", "CHAT_MODEL_SATURATED", "CHAT_BUDGET_EXHAUSTED", "CHAT_TIMEOUT",
  "CHAT_STORE_UNAVAILABLE", "CHAT_INTERNAL",
];

/** @type {readonly Outcome[]} */
const OUTCOMES = ["SUCCESS", "FALLBACK", "FAILED"];

/** A status or failure message is one short sentence. */
const MAX_MESSAGE = 500;

/** Takes the frames of one stream. After a Violation it is of no more use. */
export class Protocol {
  /** @type {"start" | "working" | "released" | "done"} */ #state = "start";
  /** @type {import("./payload.js").Content | null} */ #content = null;
  /** @type {Failure | null} */ #failure = null;
  /** @type {Result | null} */ #result = null;
  /** @type {Listener} */ #listener;

  /** @param {Listener} listener hears of what may be shown while the run is under way */
  constructor(listener) {
    this.#listener = listener;
  }

  /** Whether a valid done has come. */
  get done() {
    return this.#state === "done";
  }

  /**
   * Takes the next frame.
   * @param {import("./frames.js").Frame} frame
   */
  accept(frame) {
    switch (frame.event) {
      case "metadata":
        return this.#metadata(frame.data);
      case "status":
        return this.#status(frame.data);
      case "content":
        this.#move("working", "released", frame.event);
        this.#content = readContent(readObject(frame.data));
        return;
      case "failure":
        this.#move("working", "released", frame.event);
        this.#failure = readFailure(frame.data);
        return;
      case "done":
        return this.#finish(frame.data);
      default:
        throw new Violation("an event is unknown");
    }
  }

  /**
   * Says that the stream ended and returns what it released.
   * @returns {Result}
   */
  end() {
    if (this.#result === null) throw new Violation("the stream ended without done");
    return this.#result;
  }

  /**
   * @param {"start" | "working" | "released"} from
   * @param {"working" | "released" | "done"} to
   * @param {string} event
   */
  #move(from, to, event) {
    if (this.#state !== from) throw new Violation(event + " is out of order");
    this.#state = to;
  }

  /** @param {string} data */
  #metadata(data) {
    this.#move("start", "working", "metadata");
    const fields = readObject(data);
    haveKeys(fields, ["session_id", "run_id"]);
    this.#listener.metadata({ session_id: asID(fields.session_id), run_id: asID(fields.run_id) });
  }

  /** @param {string} data */
  #status(data) {
    this.#move("working", "working", "status");
    const fields = readObject(data);
    haveKeys(fields, ["code", "message"]);
    this.#listener.status({ code: asOneOf(fields.code, STATUS_CODES), message: asMessage(fields.message) });
  }

  /** @param {string} data */
  #finish(data) {
    this.#move("released", "done", "done");
    const fields = readObject(data);
    haveKeys(fields, ["outcome"]);
    this.#result = agree(asOneOf(fields.outcome, OUTCOMES), this.#content, this.#failure);
  }
}

/**
 * @param {Outcome} outcome
 * @param {import("./payload.js").Content | null} content
 * @param {Failure | null} failure
 * @returns {Result}
 */
function agree(outcome, content, failure) {
  if (outcome === "FAILED" && failure !== null) return { outcome, failure };
  if (outcome !== "FAILED" && content !== null && (content.kind === "FALLBACK") === (outcome === "FALLBACK")) {
    return { outcome, content };
  }
  throw new Violation("done contradicts what was released");
}

/**
 * @param {string} data
 * @returns {Failure}
 */
function readFailure(data) {
  const fields = readObject(data);
  haveKeys(fields, ["code", "message"]);
  return { code: asOneOf(fields.code, FAILURE_CODES), message: asMessage(fields.message) };
}

/**
 * @param {unknown} value
 * @returns {string}
 */
function asMessage(value) {
  const message = asText(value);
  if (message.length > MAX_MESSAGE) throw new Violation("a message is too long");
  return message;
}
