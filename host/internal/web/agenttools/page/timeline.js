// What happened, turn by turn, the newest turn first. An event is shown as it came; its result is read on demand.

import { post, sentence } from "./api.js";
import { announce, button, find, make } from "./dom.js";
import { clipped, passage, plain, quoted } from "./inert.js";
import { object, text } from "./read.js";
import { resultView } from "./result.js";
import { disclosure, facts, stateChip, valueView } from "./value.js";

/** @typedef {import("./feed.js").Happening} Happening */

/** How the protocol's kinds of event, and the runtime's, are called. Another kind is shown by its own name. */
const KINDS = new Map([
  ["agent.turn.started", "Turn started"], ["agent.plan.updated", "Plan"], ["agent.tool.requested", "Tool requested"],
  ["agent.tool.started", "Tool started"], ["agent.tool.completed", "Tool completed"],
  ["agent.authorization.required", "A person has to decide"], ["agent.turn.completed", "Turn completed"], ["agent.error", "Error"],
  ["agent.runtime.queued", "Queued"], ["agent.runtime.running", "Running"],
  ["agent.runtime.tool_requested", "The model asks for a tool"], ["agent.runtime.tool_completed", "The model is told the result"],
  ["agent.runtime.authorization_required", "A person has to decide"], ["agent.runtime.resumed", "Resumed"],
  ["agent.runtime.model_repair_requested", "The model is asked to answer in its form"], ["agent.runtime.completed", "Turn completed"],
  ["agent.runtime.failed", "Turn failed"], ["agent.runtime.cancelled", "Turn cancelled"],
  ["agent.runtime.model_unavailable", "The model cannot be reached"],
  ["agent.runtime.model_protocol_error", "The model did not keep to its form"], ["agent.runtime.budget_exhausted", "The turn has used up what it may"],
]);

/** The state that a turn has after an event. */
const STATES = new Map([
  ["agent.turn.started", "RUNNING"], ["agent.authorization.required", "AUTHORIZATION_REQUIRED"],
  ["agent.turn.completed", "COMPLETED"], ["agent.error", "FAILED"],
]);

/** Members of a payload that have a place of their own. */
const PLACED = new Set(["result_id", "state", "tool_id"]);

/** States in which a turn of the runtime can be cancelled. */
const OPEN = new Set(["QUEUED", "RUNNING", "AUTHORIZATION_REQUIRED"]);

/** The most turns that are shown. The oldest go first. */
const MOST = 64;

/**
 * @typedef {object} Card a turn as it is shown
 * @property {string} id
 * @property {string} base address of its routes
 * @property {string} state
 * @property {HTMLElement} element
 * @property {HTMLElement} title
 * @property {HTMLElement} badge
 * @property {HTMLElement} actions
 * @property {HTMLElement} outcome
 * @property {HTMLElement} events
 */

const GATEWAY = "/api/v1/agent-tools/turns/";
const RUNTIME = "/api/v1/agent-runtime/turns/";

export class Timeline {
  /** @type {import("./objects.js").Objects} */ #objects;
  /** @type {{ changed: () => void, byHand: () => string }} */ #page;
  /** @type {Map<string, Card>} */ #cards = new Map();
  /** @type {HTMLElement} */ #list = find("turns", HTMLElement);
  /** @type {HTMLElement} */ #none = find("no-turns", HTMLElement);

  /**
   * @param {import("./objects.js").Objects} objects
   * @param {{ changed: () => void, byHand: () => string }} page hears that a turn was changed; knows the turn of calls by hand
   */
  constructor(objects, page) {
    this.#objects = objects;
    this.#page = page;
  }

  forget() {
    this.#cards.clear();
    this.#list.replaceChildren();
    this.#none.hidden = false;
  }

  /**
   * Takes in events of the gateway.
   * @param {Happening[]} events
   * @param {boolean} gap
   */
  take(events, gap) {
    if (gap) this.#gap();
    for (const event of events) {
      const card = this.#card(event.turn);
      if (event.kind === "agent.turn.started") this.#name(card, text(event.payload.objective));
      card.events.append(this.#line(event));
      if (card.base === GATEWAY) this.#state(card, STATES.get(event.kind) ?? card.state);
      if (event.refs.length > 0) this.#objects.highlight(event.refs);
    }
    this.#tell(events);
  }

  /**
   * Takes in events of the runtime, whose turns are read themselves.
   * @param {Happening[]} events
   * @param {boolean} gap
   */
  takeRuntime(events, gap) {
    if (gap) this.#gap();
    for (const event of events) {
      const card = this.#card(event.turn);
      card.base = RUNTIME;
      card.events.append(this.#line(event));
    }
    this.#tell(events);
  }

  /**
   * Shows a turn of the runtime as it is now.
   * @param {unknown} turn
   */
  showTurn(turn) {
    const fields = object(turn), budgets = object(fields.budgets);
    const card = this.#card(text(fields.turn_id));
    card.base = RUNTIME;
    this.#name(card, text(fields.objective));
    this.#state(card, text(fields.state));
    const final = text(fields.final), diagnostic = text(fields.diagnostic);
    card.outcome.replaceChildren(
      ...(final === "" ? [] : [passage(final, "final")]), ...(diagnostic === "" ? [] : [passage(diagnostic, "diagnostic")]),
      facts(...Object.entries(budgets).map(([name, value]) =>
        /** @type {[string, Node]} */ ([plain(clipped(name.replaceAll("_", " "), 40)), valueView(value)]))));
  }

  /** @param {Happening[]} events */
  #tell(events) {
    const last = events[events.length - 1];
    if (last) announce(KINDS.get(last.kind) ?? plain(clipped(last.kind, 80)));
  }

  /** Says that something is missing before what comes now. */
  #gap() {
    this.#none.hidden = true;
    this.#list.prepend(make("li", { class: "gap", role: "note" },
      "Events are missing here: the service keeps a bounded number of them, and older ones are gone."));
    announce("Events are missing");
  }

  /**
   * @param {string} id
   * @returns {Card}
   */
  #card(id) {
    const before = this.#cards.get(id);
    if (before) return before;
    const title = make("h3", { dir: "auto" }, "");
    const badge = make("span", { class: "badge" });
    const actions = make("div", { class: "line actions" });
    const outcome = make("div", { class: "turn-outcome" });
    const events = make("ol", { class: "events" });
    const element = make("li", { class: "turn" },
      make("div", { class: "turn-head" }, title, badge), make("p", { class: "muted id" }, "Turn ", make("code", {}, quoted(clipped(id, 80)))),
      outcome, actions, events);
    const card = { id, base: GATEWAY, state: "", element, title, badge, actions, outcome, events };
    title.textContent = id === this.#page.byHand() ? "Calls by hand" : "Calls of a turn";
    this.#cards.set(id, card);
    this.#none.hidden = true;
    this.#list.prepend(element);
    const [oldest] = this.#cards.values();
    if (this.#cards.size > MOST && oldest) {
      oldest.element.remove();
      this.#cards.delete(oldest.id);
    }
    return card;
  }

  /**
   * @param {Card} card
   * @param {string} objective
   */
  #name(card, objective) {
    if (objective !== "") card.title.replaceChildren(plain(clipped(objective, 512)));
  }

  /**
   * @param {Card} card
   * @param {string} state
   */
  #state(card, state) {
    if (state === card.state) return;
    card.state = state;
    card.badge.replaceChildren(stateChip(state));
    const waits = state === "AUTHORIZATION_REQUIRED";
    card.actions.replaceChildren(
      ...(waits ? [button("Resume", "main small resume", () => this.#send(card, "resume"))] : []),
      ...(card.base === RUNTIME && OPEN.has(state) ? [button("Cancel", "quiet small", () => this.#send(card, "cancel"))] : []),
      ...(waits ? [make("span", { class: "muted" }, "It goes on once a person has decided about the plan and its work was started.")] : []));
  }

  /**
   * @param {Card} card
   * @param {"resume" | "cancel"} verb
   */
  async #send(card, verb) {
    const buttons = [...card.actions.querySelectorAll("button")];
    for (const one of buttons) one.disabled = true;
    card.actions.querySelector(".problem")?.remove();
    try {
      const turn = object(await post(card.base + encodeURIComponent(card.id) + "/" + verb, {}));
      if (card.base === RUNTIME) this.showTurn(turn);
      else this.#state(card, text(turn.state));
    } catch (cause) {
      card.actions.append(make("p", { class: "problem", role: "alert" }, sentence(cause)));
    }
    for (const one of buttons) one.disabled = false;
    this.#page.changed();
  }

  /**
   * @param {Happening} event
   * @returns {HTMLElement}
   */
  #line(event) {
    const tool = text(event.payload.tool_id), state = text(event.payload.state), result = text(event.payload.result_id);
    const rest = Object.entries(event.payload).filter(([name]) => !PLACED.has(name));
    const kind = KINDS.get(event.kind);
    return make("li", { class: "event" },
      make("div", { class: "event-head" },
        make("span", { class: "kind" }, kind ?? quoted(clipped(event.kind, 80))), " ",
        tool !== "" && make("code", {}, quoted(clipped(tool, 80))), " ", state !== "" && stateChip(state),
        make("span", { class: "muted when" }, "#" + event.sequence + " ", event.at !== "" && clock(event.at))),
      rest.length > 0 && valueView(Object.fromEntries(rest)),
      this.#objects.refsView(event.refs),
      result !== "" && disclosure("Result", () => resultView(result, this.#objects)),
    );
  }
}

/**
 * @param {string} stamp RFC 3339
 * @returns {HTMLElement} the time of day, and the rest on demand
 */
function clock(stamp) {
  return make("time", { datetime: stamp, title: stamp }, new Date(stamp).toLocaleTimeString([], { timeStyle: "medium" }));
}
