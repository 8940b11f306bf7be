// Asks one question and follows the stream to its end. Whoever calls it gets a released result or an error, never
// something in between.

import { FrameReader, Violation } from "./frames.js";
import { Protocol } from "./protocol.js";

/** The service refused the question before there was a run. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {number} retryAfter seconds; 0 means that nothing was said
   */
  constructor(status, retryAfter) {
    super("refused with " + status);
    this.name = "Refused";
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** After done a stream has this long to end, in milliseconds: what else it may say would contradict it. */
const LAST_WORDS = 3000;

/**
 * Asks the question. Aborting the signal disconnects, which cancels the run.
 * @param {{ query: string, session_id?: string }} question
 * @param {import("./protocol.js").Listener} listener
 * @param {AbortSignal} signal
 * @returns {Promise<import("./protocol.js").Result>}
 */
export async function ask(question, listener, signal) {
  const response = await fetch("/api/chat", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify(question),
    signal,
    cache: "no-store",
    credentials: "same-origin",
    redirect: "error",
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Refused(response.status, seconds(response.headers.get("Retry-After")));
  }
  return follow(response, new Protocol(listener));
}

/**
 * @param {Response} response
 * @param {Protocol} protocol
 * @returns {Promise<import("./protocol.js").Result>}
 */
async function follow(response, protocol) {
  const body = response.body?.getReader();
  if (!body) throw new Violation("the answer is no stream");
  try {
    refuseOtherTypes(response.headers.get("Content-Type"));
    const frames = new FrameReader();
    const next = () => (protocol.done ? lastWords(body) : body.read());
    for (let read = await next(); !read.done; read = await next()) {
      for (const frame of frames.push(read.value)) protocol.accept(frame);
    }
    frames.end();
    return protocol.end();
  } finally {
    body.cancel().catch(() => {});
  }
}

/** @param {string | null} type */
function refuseOtherTypes(type) {
  if (!/^text\/event-stream\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type ?? "")) {
    throw new Violation("the answer is no event stream");
  }
}

/**
 * Reads what comes after done. Nothing should: a connection that stays open, or breaks, has ended too.
 * @param {ReadableStreamDefaultReader<Uint8Array>} body
 * @returns {Promise<ReadableStreamReadResult<Uint8Array>>}
 */
async function lastWords(body) {
  const patience = setTimeout(() => body.cancel().catch(() => {}), LAST_WORDS);
  try {
    return await body.read();
  } catch {
    return { done: true, value: undefined };
  } finally {
    clearTimeout(patience);
  }
}

/**
 * @param {string | null} header
 * @returns {number}
 */
function seconds(header) {
  return header !== null && /^\d{1,5}$/.test(header) ? Number(header) : 0;
}
