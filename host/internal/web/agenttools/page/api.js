// Every request of the page. What changes something waits its turn in one queue, carries the token of the session, and is
// sent again when the service asks for a pause.

import { object, text, texts } from "./read.js";

/** The time between two changing requests, in milliseconds: more than the service asks for, since a network jitters. */
const PAUSE = 45;

/** How long another window's new session may take to reach this one, in milliseconds. */
const RENEWAL = 500;

/** How often a request is sent again after "too soon". */
const PATIENCE = 4;

/** The largest answer that is read, in characters. */
const MAX_ANSWER = 4 * 1024 * 1024;

/** A request that the service refused. */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} sentence
   */
  constructor(status, code, sentence) {
    super(sentence);
    this.name = "Refusal";
    this.status = status;
    this.code = code;
  }
}

/**
 * @typedef {object} Session
 * @property {string} csrf
 * @property {string} state READY or EMPTY
 * @property {string} active id of the workspace that everything is about; empty when there is none
 * @property {string[]} workspaces
 * @property {string} instance
 * @property {string} expires RFC 3339
 */

let csrf = "";
let free = 0; // when the next changing request may start, on the clock of performance.now

/** @type {() => void} */
let ended = () => {};

/**
 * Names who hears that the session is over.
 * @param {() => void} hear
 */
export function onEnd(hear) {
  ended = hear;
}

/** @param {number} milliseconds */
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Waits until it is this request's turn. Turns are given in the order in which they were asked for. */
async function turn() {
  const at = Math.max(performance.now(), free);
  free = at + PAUSE;
  await sleep(at - performance.now());
}

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<Response>}
 */
function request(method, path, body) {
  /** @type {RequestInit} */
  const init = { method, cache: "no-store", credentials: "same-origin", redirect: "error" };
  if (body !== undefined) {
    init.headers = { "Content-Type": "application/json", "X-Labfy-CSRF": csrf };
    init.body = JSON.stringify(body);
  }
  return fetch(path, init);
}

/**
 * @param {Response} response
 * @returns {Promise<unknown>}
 */
async function answer(response) {
  const body = await response.text();
  if (body.length > MAX_ANSWER) throw new Refusal(response.status, "answer_too_large", "The answer is too large to be shown.");
  let value;
  try {
    value = JSON.parse(body);
  } catch {
    throw new Refusal(response.status, "answer_unreadable", "The service answered with something that is not JSON.");
  }
  if (response.ok) return value;
  const fields = object(value);
  throw new Refusal(response.status, text(fields.error), text(fields.message) || "The service refused with " + response.status + ".");
}

/**
 * @param {unknown} cause
 * @returns {boolean}
 */
const isOver = (cause) => cause instanceof Refusal && cause.status === 401;

/**
 * Reads something. A request may have left with the cookie of a session that another window has replaced meanwhile, so
 * it is sent once more before the session is taken for over.
 * @param {string} path
 * @returns {Promise<unknown>}
 */
export async function get(path) {
  for (let again = false; ; again = true) {
    try {
      return await answer(await request("GET", path));
    } catch (cause) {
      if (!isOver(cause)) throw cause;
      if (again) {
        ended();
        throw cause;
      }
      await sleep(RENEWAL);
    }
  }
}

/**
 * Changes something. The same body is sent again after "too soon", and once after the session's token has changed: in
 * neither case did the service do anything.
 * @param {string} path
 * @param {object} body
 * @returns {Promise<unknown>}
 */
export async function post(path, body) {
  let renewed = false;
  for (let again = 0; ; again++) {
    await turn();
    const response = await request("POST", path, body);
    const wait = Number(response.headers.get("Retry-After") ?? "");
    if (response.status === 429 && wait > 0 && again < PATIENCE) {
      free = Math.max(free, performance.now() + wait * 1000);
      continue;
    }
    try {
      return await answer(response);
    } catch (cause) {
      if (cause instanceof Refusal && cause.code === "mutation_rejected" && !renewed) {
        renewed = true;
        await session();
        continue;
      }
      if (isOver(cause)) ended();
      throw cause;
    }
  }
}

/**
 * Reads the session, and keeps its token for what changes something.
 * @returns {Promise<Session>}
 */
export async function session() {
  return keep(await get("/api/v1/session"));
}

/**
 * Makes a workspace the active one.
 * @param {string} id
 * @returns {Promise<Session>}
 */
export async function activate(id) {
  return keep(await post("/api/v1/workspaces/" + encodeURIComponent(id) + "/activate", {}));
}

/**
 * @param {unknown} value
 * @returns {Session}
 */
function keep(value) {
  const fields = object(value);
  csrf = text(fields.csrf);
  return {
    csrf,
    state: text(fields.workspace_state),
    active: text(fields.active_workspace_id),
    workspaces: texts(fields.workspaces),
    instance: text(fields.instance_id),
    expires: text(fields.expires_at),
  };
}

/**
 * Says in one sentence what went wrong.
 * @param {unknown} cause
 * @returns {string}
 */
export function sentence(cause) {
  if (!(cause instanceof Refusal)) return "The service cannot be reached. It may have been stopped.";
  const code = cause.code === "" ? "" : " (" + cause.code + ")";
  return cause.message + code;
}
