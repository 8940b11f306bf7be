// The short requests of the page: login, trace, feedback, approvals. Chat is not among them; it only ever streams.

import { Marked } from "./exact.js";
import { asID, asList, asObject, readObject } from "./strict.js";

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
 * @param {string} [key] under which the service takes the same request once, however often it comes
 * @returns {Promise<string>}
 */
async function call(method, path, body, key) {
  /** @type {RequestInit} */
  const init = { method, cache: "no-store", credentials: "same-origin", redirect: "error" };
  if (body) {
    init.headers = { "Content-Type": "application/json" };
    init.body = JSON.stringify(body);
  }
  if (key) init.headers = { ...init.headers, "Idempotency-Key": key };
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

/**
 * A call that waits for a person.
 * @typedef {{ id: string, run: string, user: string, tool: string, arguments: string, digest: string, reason: string,
 *   unknown: boolean, expires: string }} Approval
 */

/**
 * Lists the calls that wait for a person, the oldest first.
 * @returns {Promise<Approval[]>}
 */
export async function approvals() {
  const numbers = new Marked();
  const text = await call("GET", "/v1/approvals?status=pending&order=asc&limit=50");
  return asList(readObject(numbers.mark(text)).approvals, (item) => {
    const fields = asObject(item);
    return {
      id: asID(fields.request_id), run: textOf(fields.run_id), user: textOf(fields.user_key), tool: textOf(fields.tool_name),
      arguments: numbers.show(fields.tool_args), digest: textOf(fields.args_digest), reason: textOf(fields.reason),
      unknown: fields.kind === "outcome_unknown", expires: textOf(fields.expires_at),
    };
  });
}

/**
 * Answers an approval.
 * @param {string} id
 * @param {boolean} approve
 * @param {string} choice empty where there is nothing to choose
 * @param {string} key
 */
export async function settle(id, approve, choice, key) {
  const path = "/v1/approvals/" + encodeURIComponent(id) + (approve ? "/approve" : "/deny");
  await call("POST", path, choice === "" ? {} : { choice }, key);
}

/**
 * @param {unknown} value
 * @returns {string}
 */
function textOf(value) {
  return typeof value === "string" ? value : "";
}
