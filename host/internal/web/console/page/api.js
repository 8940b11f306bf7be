// The short requests of the page: login, trace, feedback. Chat is not among them; it only ever streams.

import { asObject, readObject } from "./strict.js";

/** A request that was refused. */
export class ApiError extends Error {
  /** @param {number} status */
  constructor(status) {
    super("refused with " + status);
    this.name = "ApiError";
    this.status = status;
  }
}

/** The largest answer that is read, in characters. */
const MAX_ANSWER = 4 * 1024 * 1024;

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<string>}
 */
async function call(method, path, body) {
  /** @type {RequestInit} */
  const init = { method, cache: "no-store", credentials: "same-origin", redirect: "error" };
  if (body) {
    init.headers = { "Content-Type": "application/json" };
    init.body = JSON.stringify(body);
  }
  const response = await fetch(path, init);
  const text = await response.text();
  if (!response.ok) throw new ApiError(response.status);
  if (text.length > MAX_ANSWER) throw new Error("the answer is too long");
  return text;
}

/**
 * @typedef {{ session: boolean, user_key: string, expires_at: string }} Session
 */

/**
 * Asks whether the page may be used. Refused with 401 when a login is needed.
 * @returns {Promise<Session>}
 */
export async function session() {
  const fields = readObject(await call("GET", "/v1/ui/session"));
  return {
    session: fields.session === true,
    user_key: typeof fields.user_key === "string" ? fields.user_key : "",
    expires_at: typeof fields.expires_at === "string" ? fields.expires_at : "",
  };
}

/**
 * Turns a one-time code into a session.
 * @param {string} code
 */
export async function login(code) {
  await call("POST", "/ui/session", { code });
}

/** Ends the session. */
export async function logout() {
  await call("DELETE", "/ui/session");
}

/**
 * Reads the story of a run in numbers.
 * @param {string} runID
 * @returns {Promise<import("./strict.js").Fields>}
 */
export async function trace(runID) {
  return asObject(readObject(await call("GET", tracePath(runID))).trace);
}

/**
 * @param {string} runID
 * @returns {string} where the trace can be read whole
 */
export function tracePath(runID) {
  return "/v1/traces/" + encodeURIComponent(runID);
}

/**
 * Says how good the answer of a run was. The last word counts.
 * @param {import("./protocol.js").Metadata} ids
 * @param {"up" | "down"} rating
 * @param {string} comment
 */
export async function feedback(ids, rating, comment) {
  const body = { run_id: ids.run_id, session_id: ids.session_id, rating };
  await call("POST", "/api/feedback", comment === "" ? body : { ...body, comment });
}
