// The calls that wait for a person, and the answers that a person can give.

import { ApiError, approvals, settle } from "./api.js";
import { announce, button, find, make, moment } from "./dom.js";
import { plain } from "./exact.js";

/** How often the service is asked what waits, in milliseconds, while somebody looks at the page. */
const LOOK = 5000;

const UNKNOWN = "This call left, and nobody knows whether it took effect. What now?";

/** @type {[string, boolean, string, string][]} label, whether it is an approve, choice, looks */
const PERMISSION = [["Let it run", true, "", "main"], ["Refuse", false, "", "quiet"]];

/** @type {[string, boolean, string, string][]} */
const CHOICES = [
  ["Run it again", true, "retry", "quiet"],
  ["It took effect, go on", true, "treat_as_done", "quiet"],
  ["End the run", false, "abort", "quiet"],
];

/** The list of what waits. It is empty, and not there, where nothing does or the one who looks may not see it. */
export class Waiting {
  #section = find("waiting", HTMLElement);
  #list = find("waiting-list", HTMLElement);
  /** @type {Map<string, HTMLElement>} */ #cards = new Map();
  /** @type {number | undefined} */ #timer;
  #generation = 0;

  /** Begins to look, or begins anew as somebody else. */
  start() {
    this.stop();
    const generation = this.#generation;
    const look = async () => {
      if (document.hidden || await this.#look(generation)) this.#timer = window.setTimeout(look, LOOK);
    };
    look();
  }

  /** Looks no more and forgets what was seen. */
  stop() {
    window.clearTimeout(this.#timer);
    this.#generation++;
    this.#cards.clear();
    this.#list.replaceChildren();
    this.#section.hidden = true;
  }

  /**
   * @param {number} generation
   * @returns {Promise<boolean>} whether it is worth to look again
   */
  async #look(generation) {
    let waiting;
    try {
      waiting = await approvals();
    } catch (error) {
      return generation === this.#generation && !(error instanceof ApiError && [401, 403, 404].includes(error.status));
    }
    if (generation !== this.#generation) return false;
    this.#show(waiting);
    return true;
  }

  /** @param {import("./api.js").Approval[]} waiting */
  #show(waiting) {
    const ids = new Set(waiting.map((one) => one.id));
    for (const [id, card] of this.#cards) {
      if (ids.has(id) || justAnswered(card)) continue;
      card.remove();
      this.#cards.delete(id);
    }
    const before = this.#cards.size;
    for (const one of waiting) {
      if (this.#cards.has(one.id)) continue;
      const card = this.#card(one);
      this.#cards.set(one.id, card);
      this.#list.append(card);
    }
    this.#section.hidden = this.#cards.size === 0;
    if (this.#cards.size > before) announce("A call waits for a person");
  }

  /** @param {import("./api.js").Approval} one */
  #card(one) {
    const buttons = make("div", { class: "answers" });
    const problem = make("p", { class: "problem", role: "alert" });
    const card = make("li", { class: "waiting-call", tabindex: "-1" },
      make("h3", {}, make("code", {}, plain(one.tool))),
      one.unknown && make("p", { class: "unknown" }, UNKNOWN),
      one.reason !== "" && make("p", { class: "detail" }, plain(one.reason)),
      make("pre", { tabindex: "0", "aria-label": "Arguments" }, make("code", {}, one.arguments)),
      make("p", { class: "detail" }, "For ", make("code", {}, plain(one.user) || "nobody"), ", run ", make("code", {}, plain(one.run)),
        one.expires !== "" && " until ", one.expires !== "" && moment(one.expires)),
      make("p", { class: "detail" }, "Digest ", make("code", {}, plain(one.digest))),
      buttons, problem);
    for (const [label, approve, choice, style] of one.unknown ? CHOICES : PERMISSION) {
      const key = newKey();
      buttons.append(button(label, style, () => this.#answer(card, buttons, problem, { one, label, approve, choice, key })));
    }
    return card;
  }

  /**
   * @param {HTMLElement} card
   * @param {HTMLElement} buttons
   * @param {HTMLElement} problem
   * @param {{ one: import("./api.js").Approval, label: string, approve: boolean, choice: string, key: string }} answer
   */
  async #answer(card, buttons, problem, answer) {
    for (const each of buttons.querySelectorAll("button")) each.disabled = true;
    problem.textContent = "";
    try {
      await settle(answer.one.id, answer.approve, answer.choice, answer.key);
    } catch (error) {
      for (const each of buttons.querySelectorAll("button")) each.disabled = false;
      problem.textContent = troubleOf(error);
      return;
    }
    card.classList.add("answered");
    buttons.replaceWith(make("p", { class: "said" }, "Answered: " + answer.label + "."));
    card.focus();
    announce("Answered: " + answer.label);
  }
}

/**
 * An answer is shown for one look longer than its call waits.
 * @param {HTMLElement} card
 * @returns {boolean}
 */
function justAnswered(card) {
  return card.classList.replace("answered", "read");
}

/**
 * @param {unknown} error
 * @returns {string}
 */
function troubleOf(error) {
  if (!(error instanceof ApiError)) return "The answer may not have arrived. Try again: it counts once.";
  if (error.status === 403) return "Somebody else must answer this call.";
  if (error.status === 409) return "This call was answered already, or it is not the same call any more.";
  if (error.status === 404 || error.status === 401) return "This call is not there for you any more.";
  return "The service did not take the answer. Try again.";
}

function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
