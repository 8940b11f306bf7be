// One question and what became of it.

import { copyView, feedbackView, traceView } from "./aftermath.js";
import { ask, Refused } from "./ask.js";
import { announce, button, make } from "./dom.js";
import { Violation } from "./frames.js";
import { Progress } from "./progress.js";
import { contentText, contentView } from "./report.js";

/**
 * @typedef {object} Surroundings what a turn needs of the page
 * @property {string} session the conversation's session; empty in the first turn
 * @property {(session: string) => void} joined hears of the session that the service stored the run in
 * @property {(question: string) => void} again asks a question once more
 * @property {() => void} locked hears that a login is needed
 */

/** @type {{ [status: number]: string }} */
const REFUSALS = {
  400: "The service did not accept this question.",
  403: "You may not ask this service.",
  404: "This service does not answer questions here.",
  413: "The question is too long.",
  415: "The service did not accept this question.",
  429: "Too many questions in a short time.",
  503: "The service is busy at the moment.",
};

let turns = 0;

/** A turn of the conversation. It renders one outcome, once. */
export class Turn {
  /** @type {HTMLElement} */ element;
  /** @type {HTMLElement} */ #outcome;
  /** @type {Progress} */ #progress = new Progress();
  /** @type {AbortController} */ #abort = new AbortController();
  /** @type {import("./protocol.js").Metadata | null} */ #ids = null;
  /** @type {string} */ #id = "turn-" + ++turns;
  /** @type {string} */ #question;
  /** @type {Surroundings} */ #around;

  /**
   * @param {string} question
   * @param {Surroundings} around
   */
  constructor(question, around) {
    this.#question = question;
    this.#around = around;
    this.#outcome = make("div", { class: "outcome", id: this.#id + "-outcome", tabindex: "-1" }, this.#progress.element);
    this.element = make("li", { class: "turn", "aria-labelledby": this.#id + "-question" },
      make("h2", { class: "question", id: this.#id + "-question" }, make("span", { class: "unseen" }, "You asked: "), question),
      this.#outcome);
  }

  /** Disconnects, which cancels the run. */
  stop() {
    this.#abort.abort();
  }

  /** Asks, and shows what comes of it. It never fails. */
  async run() {
    /** @type {HTMLElement} */
    let shown;
    try {
      shown = this.#result(await this.#ask());
    } catch (error) {
      shown = this.#trouble(error);
    }
    const took = this.#progress.stop();
    this.#outcome.replaceChildren(shown, ...this.#aftermath(took));
  }

  /** @returns {Promise<import("./protocol.js").Result>} */
  #ask() {
    const session = this.#around.session;
    const question = session === "" ? { query: this.#question } : { query: this.#question, session_id: session };
    return ask(question, {
      metadata: (ids) => {
        this.#ids = ids;
        this.#around.joined(ids.session_id);
      },
      status: (status) => this.#progress.status(status),
    }, this.#abort.signal);
  }

  /** @type {string} what the copy button copies; empty = there is none */ #text = "";

  /**
   * @param {import("./protocol.js").Result} result
   * @returns {HTMLElement}
   */
  #result(result) {
    if (result.outcome === "FAILED") return this.#problem("The question could not be answered", result.failure.message, result.failure.code);
    this.#text = contentText(result.content);
    announce(result.outcome === "FALLBACK" ? "There is no checked answer" : "The answer is there");
    return contentView(result.content, this.#id);
  }

  /**
   * @param {unknown} error
   * @returns {HTMLElement}
   */
  #trouble(error) {
    if (this.#abort.signal.aborted) {
      announce("Stopped");
      return make("div", { class: "content stopped" }, make("h3", {}, "Stopped"),
        make("p", {}, "The run was cancelled before there was an answer."), this.#retry());
    }
    if (error instanceof Violation) {
      return this.#problem("The answer was not shown", "What the service sent broke the rules of the stream, so none of it can be trusted.", error.message);
    }
    if (error instanceof Refused) return this.#refusal(error);
    return this.#problem("The connection broke", "The service could not be reached, or the connection ended early. The run was cancelled.", "");
  }

  /**
   * @param {Refused} refused
   * @returns {HTMLElement}
   */
  #refusal(refused) {
    if (refused.status === 401) {
      this.#around.locked();
      return this.#problem("You are not logged in", "The session has ended. Log in and ask again.", "");
    }
    const sentence = REFUSALS[refused.status] ?? "The service could not take the question.";
    const wait = refused.retryAfter > 0 ? ` Try again in ${refused.retryAfter} s.` : "";
    return this.#problem("The question was not taken", sentence + wait, "HTTP " + refused.status);
  }

  /**
   * @param {string} title
   * @param {string} sentence
   * @param {string} detail a code, or which rule was broken
   * @returns {HTMLElement}
   */
  #problem(title, sentence, detail) {
    announce(title + ". " + sentence);
    return make("div", { class: "content failure" }, make("h3", {}, title), make("p", {}, sentence),
      detail !== "" && make("p", { class: "detail" }, make("code", {}, detail)), this.#retry());
  }

  /** @returns {HTMLElement} */
  #retry() {
    return button("Ask again", "quiet", () => this.#around.again(this.#question));
  }

  /**
   * @param {string} took
   * @returns {HTMLElement[]}
   */
  #aftermath(took) {
    if (this.#ids === null) return [];
    const answered = this.#text !== "";
    const line = make("div", { class: "line" }, make("span", { class: "muted" }, "Took " + took),
      answered && copyView(this.#text));
    return [make("div", { class: "aftermath" }, line, answered && feedbackView(this.#ids, this.#id), traceView(this.#ids))];
  }
}
