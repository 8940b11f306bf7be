// The catalogue as the service sends it. Every word about a tool is the service's; the page derives none from a name.

import { get, post, sentence } from "./api.js";
import { announce, find, make } from "./dom.js";
import { Fieldset, Unfit } from "./form.js";
import { clipped, passage, plain, quoted } from "./inert.js";
import { list, newID, object, text } from "./read.js";
import { resultView } from "./result.js";
import { chip, facts, stateChip } from "./value.js";

/** @typedef {import("./read.js").Fields} Fields */

/** Members of a descriptor that have a place of their own. All others are shown below their own name. */
const PLACED = new Set([
  "tool_id", "title", "description", "input_schema", "action_class", "network_contact", "authorization_requirement", "risk_class",
  "cost_class", "availability", "unavailable_reason",
]);

/** How a descriptor's members are called here. */
const NAMES = /** @type {const} */ ([
  ["action_class", "Action"], ["network_contact", "Network contact"], ["authorization_requirement", "Authorization"],
  ["risk_class", "Risk"], ["cost_class", "Cost"],
]);

/** How soon the catalogue is read again while something does not work, and while everything does, in milliseconds. */
const SOON = 3000, LATER = 30_000;

/** The tools and their forms. */
export class Tools {
  /** @type {import("./objects.js").Objects} */ #objects;
  /** @type {() => void} */ #called;
  /** @type {Map<string, { json: string, element: HTMLElement }>} */ #cards = new Map();
  /** @type {HTMLElement} */ #list = find("tools", HTMLElement);
  /** @type {HTMLElement} */ #problem = find("tools-problem", HTMLElement);
  /** @type {number} */ #timer = 0;
  /** @type {boolean} */ #running = false;
  /** @type {string} the turn of all calls that the person makes by hand */ turn = newID();

  /**
   * @param {import("./objects.js").Objects} objects
   * @param {() => void} called hears that a call was made
   */
  constructor(objects, called) {
    this.#objects = objects;
    this.#called = called;
  }

  /** Begins anew: another workspace has other forms. */
  async start() {
    this.#running = true;
    this.#cards.clear();
    this.#list.replaceChildren();
    this.turn = newID();
    await this.load();
  }

  stop() {
    this.#running = false;
    window.clearTimeout(this.#timer);
  }

  async load() {
    window.clearTimeout(this.#timer);
    let wait = SOON;
    try {
      const tools = list(object(await get("/api/v1/agent-tools/catalog")).tools).map(object);
      this.#show(tools);
      this.#problem.textContent = "";
      if (tools.every((tool) => tool.availability === "AVAILABLE")) wait = LATER;
    } catch (cause) {
      this.#problem.textContent = "The catalogue could not be read. " + sentence(cause);
    }
    if (this.#running) this.#timer = window.setTimeout(() => this.load(), document.hidden ? LATER : wait);
  }

  /**
   * Cards of tools that are as they were stay, with what a person has typed into them.
   * @param {Fields[]} tools
   */
  #show(tools) {
    /** @type {Map<string, { json: string, element: HTMLElement }>} */
    const cards = new Map();
    for (const tool of tools) {
      const json = JSON.stringify(tool), id = text(tool.tool_id);
      const before = this.#cards.get(id);
      cards.set(id, before?.json === json ? before : { json, element: this.#card(tool, before?.element) });
    }
    const wanted = [...cards.values()].map((card) => card.element);
    if (wanted.length !== this.#list.childElementCount || wanted.some((element, at) => this.#list.children[at] !== element)) {
      this.#list.replaceChildren(...wanted);
    }
    this.#cards = cards;
    find("tools-count", HTMLElement).textContent = String(tools.length);
  }

  /**
   * @param {Fields} tool
   * @param {HTMLElement} [before] the card that this one replaces
   * @returns {HTMLElement}
   */
  #card(tool, before) {
    const open = before?.querySelector("details")?.open === true;
    const available = text(tool.availability), reason = text(tool.unavailable_reason);
    const others = Object.entries(tool).filter(([name, value]) => !PLACED.has(name) && typeof value !== "object");
    return make("li", { class: "tool" }, make("details", { open },
      make("summary", {},
        make("span", { class: "heading" }, quoted(clipped(text(tool.title) || text(tool.tool_id), 120), "title"), " ", make("code", {}, quoted(text(tool.tool_id)))),
        make("span", { class: "chips" }, chip(text(tool.action_class)), stateChip(available))),
      passage(text(tool.description)),
      reason !== "" && passage(reason, "reason"),
      facts(...NAMES.map(([member, name]) => /** @type {[string, Node]} */ ([name, chip(text(tool[member]))]))),
      this.#form(tool, available !== "AVAILABLE"),
      make("details", { class: "more" }, make("summary", {}, "More about it"), facts(...others.map(([name, value]) =>
        /** @type {[string, Node]} */ ([plain(clipped(name, 80)), quoted(clipped(String(value), 200))])))),
    ));
  }

  /**
   * @param {Fields} tool
   * @param {boolean} closed
   * @returns {HTMLElement}
   */
  #form(tool, closed) {
    const fields = new Fieldset(tool.input_schema, this.#objects);
    const send = make("button", { type: "submit", class: "main small", disabled: closed }, "Call");
    const outcome = make("div", { class: "outcome", "aria-live": "polite" });
    const form = make("form", { class: "call", autocomplete: "off" }, fields.element, send, outcome);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      send.disabled = true;
      outcome.replaceChildren(make("p", { class: "muted" }, "Calling …"));
      outcome.replaceChildren(...await this.#call(text(tool.tool_id), fields));
      send.disabled = closed;
    });
    return form;
  }

  /**
   * @param {string} tool
   * @param {Fieldset} fields
   * @returns {Promise<HTMLElement[]>}
   */
  async #call(tool, fields) {
    try {
      const reply = object(await post("/api/v1/agent-tools/calls", {
        turn_id: this.turn, tool_id: tool, input: fields.input(), context: null, object_refs: [], idempotency_key: newID(),
      }));
      this.#called();
      announce("The call ended: " + plain(text(reply.state)));
      return [make("p", {}, stateChip(text(reply.state))), await resultView(text(reply.result_id), this.#objects)];
    } catch (cause) {
      return [make("p", { class: "problem", role: "alert" }, cause instanceof Unfit ? cause.message : sentence(cause))];
    }
  }
}
