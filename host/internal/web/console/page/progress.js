// Shows how far a run is, for eyes and for screen readers.

import { announce, make } from "./dom.js";

/** The steps of one run. A step that comes again is shown once, as the current one. */
export class Progress {
  /** @type {HTMLElement} */ element;
  /** @type {HTMLElement} */ #steps;
  /** @type {HTMLElement} */ #clock;
  /** @type {Map<string, HTMLElement>} */ #known = new Map();
  /** @type {number} */ #began = Date.now();
  /** @type {number} */ #timer;

  constructor() {
    this.#steps = make("ol", { class: "steps" });
    this.#clock = make("span", { class: "clock", "aria-hidden": "true" });
    this.element = make("div", { class: "progress" }, this.#steps, this.#clock);
    this.#show("START", "Asking");
    this.#timer = window.setInterval(() => this.#tick(), 1000);
  }

  /** @param {import("./protocol.js").Status} status */
  status(status) {
    this.#show(status.code, status.message);
    announce(status.message);
  }

  /** Ends the clock and returns how long it took, in words. */
  stop() {
    window.clearInterval(this.#timer);
    this.element.remove();
    return duration(Date.now() - this.#began);
  }

  /**
   * @param {string} code
   * @param {string} message
   */
  #show(code, message) {
    for (const step of this.#known.values()) step.removeAttribute("aria-current");
    this.#known.get("START")?.remove();
    let step = this.#known.get(code);
    if (!step) {
      step = make("li", {});
      this.#known.set(code, step);
    }
    step.textContent = message;
    step.setAttribute("aria-current", "step");
    this.#steps.append(step);
  }

  #tick() {
    this.#clock.textContent = duration(Date.now() - this.#began);
  }
}

/**
 * @param {number} milliseconds
 * @returns {string}
 */
export function duration(milliseconds) {
  const seconds = milliseconds / 1000;
  if (seconds < 1) return Math.round(milliseconds) + " ms";
  if (seconds < 10) return seconds.toFixed(1) + " s";
  if (seconds < 100) return Math.round(seconds) + " s";
  return Math.floor(seconds / 60) + " min " + Math.round(seconds % 60) + " s";
}
