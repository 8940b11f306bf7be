// The research plan, and a person's word about it. Nothing here is decided by the page: every action stands on "defer"
// until somebody chooses, and a grant is asked for only by the button that says so.

import { get, post, sentence } from "./api.js";
import { announce, button, find, make, moment } from "./dom.js";
import { clipped, passage, plain, quoted } from "./inert.js";
import { list, newID, number, object, text, texts } from "./read.js";
import { chip, facts, jsonView, stateChip } from "./value.js";

/** @typedef {import("./read.js").Fields} Fields */

const CHOICES = /** @type {const} */ ([["AUTHORIZE", "Authorise"], ["DEFER", "Defer"], ["REFUSE", "Refuse"]]);

/** How often the state is read when nothing else asks for it: grants end by themselves. In milliseconds. */
const NOW_AND_THEN = 15_000, SELDOM = 60_000;

/**
 * An action as it is decided about.
 * @typedef {object} Action
 * @property {string} id
 * @property {Fields} fields
 * @property {boolean} over it was carried out, or may have been
 */

export class Research {
  /** @type {() => void} */ #changed;
  /** @type {import("./objects.js").Objects} */ #objects;
  /** @type {string} the state that is shown */ #json = "";
  /** @type {Fields} */ #snapshot = {};
  /** @type {Map<string, string>} what the person chose, by action */ #chosen = new Map();
  /** @type {string} */ #plan = "";
  /** @type {number} */ #timer = 0;
  /** @type {boolean} */ #running = false;
  /** @type {boolean} */ #busy = false;
  /** @type {string} of the decision that is reviewed: sent twice, it is made once */ #key = "";
  /** @type {HTMLElement} */ #view = find("plan", HTMLElement);
  /** @type {HTMLElement} */ #problem = find("plan-problem", HTMLElement);
  /** @type {HTMLDialogElement} */ #dialog = find("decide", HTMLDialogElement);

  /**
   * @param {import("./objects.js").Objects} objects
   * @param {() => void} changed hears that something was decided
   */
  constructor(objects, changed) {
    this.#objects = objects;
    this.#changed = changed;
    find("decide-back", HTMLButtonElement).addEventListener("click", () => this.#dialog.close());
    find("decide-form", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#decide();
    });
  }

  async start() {
    this.#running = true;
    this.#json = "";
    this.#chosen.clear();
    this.#problem.textContent = "";
    await this.load();
  }

  stop() {
    this.#running = false;
    window.clearTimeout(this.#timer);
    this.#dialog.close();
  }

  /** Reads the state and shows it where it has changed. */
  async load() {
    window.clearTimeout(this.#timer);
    try {
      const snapshot = await get("/api/v1/research");
      if (!this.#busy) this.#take(snapshot);
    } catch (cause) {
      this.#problem.textContent = "The research could not be read. " + sentence(cause);
    }
    if (this.#running) this.#timer = window.setTimeout(() => this.load(), document.hidden ? SELDOM : NOW_AND_THEN);
  }

  /** @param {unknown} snapshot */
  #take(snapshot) {
    const json = JSON.stringify(snapshot);
    if (json === this.#json) return;
    this.#json = json;
    this.#snapshot = object(snapshot);
    const plan = text(this.#snapshot.plan_id);
    if (plan !== this.#plan) this.#chosen.clear();
    this.#plan = plan;
    this.#show();
  }

  /** @returns {Action[]} */
  #actions() {
    return list(this.#snapshot.actions).map(object).map((fields) => ({
      id: text(fields.action_id), fields, over: fields.contacted === true || text(fields.result_status) !== "",
    }));
  }

  /**
   * @param {Action} action
   * @returns {string} what is chosen now: the person's word, else what the service keeps
   */
  #choice(action) {
    return this.#chosen.get(action.id) ?? (text(action.fields.decision) || "DEFER");
  }

  #show() {
    const focused = document.activeElement instanceof HTMLInputElement ? document.activeElement.name + document.activeElement.value : "";
    const s = this.#snapshot;
    if (this.#plan === "") {
      this.#view.replaceChildren(make("p", { class: "muted" }, "There is no plan. A turn prepares one when it comes to that, and so does a tool that prepares research."));
      return;
    }
    const review = button("Review the decision", "main", () => this.#review());
    review.id = "review";
    this.#view.replaceChildren(make("div", { class: "plan" },
      passage(clipped(text(s.question), 600), "question"),
      facts(["Plan", quoted(this.#plan)], ["Data revision", quoted(String(number(s.input_revision)))],
        ["Prepared", text(s.created_at) === "" ? null : moment(text(s.created_at))], ["Fingerprint", quoted(clipped(text(s.plan_fingerprint), 80))]),
      make("ol", { class: "actions-list" }, ...this.#actions().map((action) => this.#actionView(action))),
      make("div", { class: "line" }, review, make("span", { class: "muted" }, "Nothing is granted before you confirm.")),
      this.#grantsView(),
      jsonView(s)));
    this.#allow();
    if (focused !== "") this.#refocus(focused);
  }

  /** @param {string} focused name and value of the choice that had the focus */
  #refocus(focused) {
    for (const input of this.#view.querySelectorAll("input")) if (input.name + input.value === focused) input.focus();
  }

  /** A decision that says nothing cannot be reviewed. */
  #allow() {
    const review = this.#view.querySelector("#review");
    const says = this.#actions().some((action) => !action.over && this.#choice(action) !== "DEFER");
    if (review instanceof HTMLButtonElement) review.disabled = !says;
  }

  /**
   * @param {Action} action
   * @returns {HTMLElement}
   */
  #actionView(action) {
    const f = action.fields;
    const at = this.#actions().findIndex((other) => other.id === action.id);
    const refused = text(f.decision) === "REFUSE";
    const options = CHOICES.map(([value, name]) => {
      const input = make("input", { type: "radio", name: "choice-" + at, value, checked: this.#choice(action) === value, disabled: refused || action.over });
      input.addEventListener("change", () => {
        this.#chosen.set(action.id, value);
        this.#allow();
      });
      return make("label", { class: "option" }, input, name);
    });
    const status = text(f.result_status), excerpt = text(f.result_excerpt);
    return make("li", { class: "action" },
      make("fieldset", {},
        make("legend", {}, "Wave " + number(f.wave) + ": ", quoted(clipped(text(f.capability_id), 120))),
        ...terms(f, this.#objects),
        make("div", { class: "options" }, ...options),
        refused && make("p", { class: "muted" }, "It was refused and cannot be granted any more."),
        status !== "" && make("p", { class: "came" }, "What came of it: ", stateChip(status)),
        excerpt !== "" && make("figure", { class: "excerpt" }, make("figcaption", { class: "muted" }, "Said by the provider, not checked"), passage(clipped(excerpt, 600))),
      ));
  }

  /** Shows what would happen, and asks. */
  #review() {
    const open = this.#actions().filter((action) => !action.over);
    const named = (/** @type {string} */ choice) => open.filter((action) => this.#choice(action) === choice);
    const granted = named("AUTHORIZE"), refused = named("REFUSE"), deferred = named("DEFER");
    const group = (/** @type {string} */ title, /** @type {Action[]} */ actions, /** @type {boolean} */ whole) => actions.length > 0 &&
      make("section", {}, make("h3", {}, title), make("ul", { class: "decided" }, ...actions.map((action) => make("li", {},
        make("p", {}, "Wave " + number(action.fields.wave) + ": ", quoted(clipped(text(action.fields.capability_id), 120))),
        ...(whole ? terms(action.fields, this.#objects) : [])))));
    find("decide-what", HTMLElement).replaceChildren(...[
      group("This may then be contacted and disclosed", granted, true),
      group("Refused for good", refused, false),
      group("Left for later", deferred, false),
    ].filter((part) => part !== false));
    this.#key = newID();
    find("decide-problem", HTMLElement).textContent = "";
    find("decide-confirm", HTMLButtonElement).textContent = granted.length === 0 ? "Record the refusals"
      : "Grant " + granted.length + (granted.length === 1 ? " action" : " actions") + " and start";
    this.#dialog.showModal();
  }

  /** The person's decision: a grant for what was authorised, and the work under it, wave by wave. */
  async #decide() {
    const confirm = find("decide-confirm", HTMLButtonElement);
    const open = this.#actions().filter((action) => !action.over);
    const granted = open.filter((action) => this.#choice(action) === "AUTHORIZE");
    confirm.disabled = true;
    this.#busy = true;
    try {
      const answered = await post("/api/v1/research/grants", {
        plan_id: this.#plan, input_revision: number(this.#snapshot.input_revision),
        selected_action_ids: granted.map((action) => action.id),
        decisions: open.map((action) => ({ action_id: action.id, decision: this.#choice(action) })),
        exclusions: [], idempotency_key: this.#key,
      });
      this.#chosen.clear();
      this.#take(answered);
      this.#dialog.close();
      announce(granted.length === 0 ? "The refusals are recorded" : "The grant is made");
      if (granted.length > 0) await this.#work(newest(this.#snapshot), granted);
    } catch (cause) {
      if (this.#dialog.open) find("decide-problem", HTMLElement).textContent = sentence(cause);
    }
    confirm.disabled = false;
    this.#busy = false;
    this.#changed();
  }

  /**
   * Starts the work under a grant, the first wave first.
   * @param {string} grant
   * @param {Action[]} actions
   */
  async #work(grant, actions) {
    this.#problem.textContent = "";
    const waves = [...new Set(actions.map((action) => number(action.fields.wave)))].sort((a, b) => a - b);
    try {
      for (const wave of waves) {
        announce("Wave " + wave + " is under way");
        this.#take(await post("/api/v1/research/campaigns", {
          grant_id: grant, input_revision: number(this.#snapshot.input_revision),
          action_ids: actions.filter((action) => number(action.fields.wave) === wave).map((action) => action.id),
          idempotency_key: newID(),
        }));
      }
      announce("The granted work has ended");
    } catch (cause) {
      this.#problem.textContent = sentence(cause);
    }
  }

  /** @returns {HTMLElement | null} */
  #grantsView() {
    const grants = list(this.#snapshot.grants).map(object);
    if (grants.length === 0) return null;
    return make("section", { class: "grants" }, make("h3", {}, "Grants"), make("ul", {}, ...grants.map((grant) => this.#grantView(grant))));
  }

  /**
   * @param {Fields} grant
   * @returns {HTMLElement}
   */
  #grantView(grant) {
    const id = text(grant.grant_id), revoked = text(grant.revoked_at);
    const live = revoked === "" && Date.parse(text(grant.expires_at)) > Date.now();
    const left = this.#actions().filter((action) => !action.over && text(action.fields.decision) === "AUTHORIZE" &&
      (grant.action_ids === undefined || texts(grant.action_ids).includes(action.id)));
    return make("li", { class: live ? "grant live" : "grant" },
      make("p", {}, make("code", {}, quoted(clipped(id, 80))), " ", chip(live ? "live" : revoked !== "" ? "revoked" : "expired", live ? "good" : "")),
      facts(["Made", moment(text(grant.created_at))], ["Ends", moment(text(grant.expires_at))], ["Revoked", revoked === "" ? null : moment(revoked)]),
      live && make("div", { class: "line" },
        left.length > 0 && button("Start what is left", "quiet small", () => this.#again(id, left)),
        button("Revoke", "quiet small danger", () => this.#revoke(id))));
  }

  /**
   * @param {string} grant
   * @param {Action[]} actions
   */
  async #again(grant, actions) {
    this.#busy = true;
    await this.#work(grant, actions);
    this.#busy = false;
    this.#changed();
  }

  /** @param {string} grant */
  async #revoke(grant) {
    try {
      this.#take(await post("/api/v1/research/revoke", { grant_id: grant }));
      this.#problem.textContent = "";
      announce("The grant is revoked");
    } catch (cause) {
      this.#problem.textContent = sentence(cause);
    }
    this.#changed();
  }
}

/**
 * Whom an action contacts, what it tells them, and how far it goes.
 * @param {Fields} f
 * @param {import("./objects.js").Objects} objects
 * @returns {HTMLElement[]}
 */
function terms(f, objects) {
  const bounds = number(f.max_requests) + (f.max_requests === 1 ? " request" : " requests") + ", " +
    number(f.max_response_bytes) + " bytes, " + number(f.max_active_ms) + " ms at most";
  return [facts(
    ["Provider", quoted(clipped(text(f.provider_id), 120))],
    ["Contact", chip(text(f.contact))],
    ["Discloses", chip(text(f.disclosure))],
    ["About", objects.refsView(text(f.subject).split(/[\s,]+/).filter((id) => id !== ""))],
    ["Bounds", plain(bounds)],
    ["Contacted", f.contacted === true ? "yes" : "not yet"],
  )];
}

/**
 * @param {Fields} snapshot
 * @returns {string} the id of the newest grant
 */
function newest(snapshot) {
  return text(object(list(snapshot.grants)[0]).grant_id);
}
