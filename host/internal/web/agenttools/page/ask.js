// The field for an objective, and the choice of who works on it: the demonstration of the gateway, or the runtime of a
// model. Which of them can be chosen is what the service says.

import { get, post, Refusal, sentence } from "./api.js";
import { announce, find } from "./dom.js";
import { clipped, plain } from "./inert.js";
import { newID, object, text } from "./read.js";

/** The longest objective, in characters. */
const LONGEST = 512;

/** How often the runtime is asked how it is, in milliseconds. */
const NOW_AND_THEN = 20_000, SELDOM = 60_000;

export class Ask {
  /** @type {{ started: (turn: unknown, runtime: boolean) => void, runtime: (there: boolean) => void }} */ #page;
  /** @type {HTMLTextAreaElement} */ #objective = find("objective", HTMLTextAreaElement);
  /** @type {HTMLButtonElement} */ #send = find("send", HTMLButtonElement);
  /** @type {HTMLElement} */ #problem = find("ask-problem", HTMLElement);
  /** @type {HTMLInputElement} */ #model = find("agent-runtime", HTMLInputElement);
  /** @type {HTMLInputElement} */ #demo = find("agent-demo", HTMLInputElement);
  /** @type {boolean} */ #touched = false;
  /** @type {boolean} */ #running = false;
  /** @type {number} */ #timer = 0;

  /**
   * @param {{ started: (turn: unknown, runtime: boolean) => void, runtime: (there: boolean) => void }} page hears of a turn
   *   that was started, and whether there is a runtime
   */
  constructor(page) {
    this.#page = page;
    const form = find("ask", HTMLFormElement);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#start();
    });
    form.addEventListener("change", (event) => {
      if (event.target === this.#model || event.target === this.#demo) this.#touched = true;
    });
    this.#objective.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
  }

  async start() {
    this.#running = true;
    await this.load();
  }

  stop() {
    this.#running = false;
    window.clearTimeout(this.#timer);
  }

  /** Asks how the runtime is. */
  async load() {
    window.clearTimeout(this.#timer);
    const line = find("runtime-line", HTMLElement), words = find("runtime-words", HTMLElement);
    try {
      const status = object(await get("/api/v1/agent-runtime/status"));
      const ready = status.available === true;
      line.hidden = false;
      this.#model.disabled = !ready;
      if (!ready && this.#model.checked) this.#demo.checked = true;
      if (ready && text(status.mode) === "local-model" && !this.#touched) this.#model.checked = true;
      const parts = [status.mode, status.model, status.provider, status.endpoint_kind, ready ? "" : status.reason];
      words.textContent = plain(clipped([...new Set(parts.map(text))].filter((part) => part !== "").join(", "), 300));
      this.#page.runtime(true);
    } catch (cause) {
      const none = cause instanceof Refusal && cause.status === 404;
      if (none) this.#page.runtime(false);
      line.hidden = none;
      this.#model.disabled = true;
      words.textContent = sentence(cause);
    }
    if (this.#running) this.#timer = window.setTimeout(() => this.load(), document.hidden ? SELDOM : NOW_AND_THEN);
  }

  async #start() {
    const objective = this.#objective.value.trim();
    const length = [...objective].length;
    this.#problem.textContent = "";
    if (objective === "") return this.#objective.focus();
    if (length > LONGEST) {
      this.#problem.textContent = "An objective has at most " + LONGEST + " characters; this one has " + length + ".";
      return;
    }
    const runtime = this.#model.checked;
    this.#send.disabled = true;
    announce("The turn is under way");
    try {
      const turn = runtime
        ? await post("/api/v1/agent-runtime/turns", { objective, idempotency_key: newID() })
        : await post("/api/v1/agent-tools/turns", { objective });
      this.#objective.value = "";
      this.#page.started(turn, runtime);
    } catch (cause) {
      this.#problem.textContent = sentence(cause);
      void this.load();
    }
    this.#send.disabled = false;
  }
}
