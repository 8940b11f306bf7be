// What can be done with a run when it is over: read its trace, rate it, copy its answer.

import { feedback, trace, tracePath } from "./api.js";
import { announce, button, make, moment } from "./dom.js";
import { duration } from "./progress.js";

/**
 * Builds the trace of a run, which is read when somebody opens it.
 * @param {import("./protocol.js").Metadata} ids
 * @returns {HTMLElement}
 */
export function traceView(ids) {
  const body = make("div", { class: "trace-body" });
  const view = make("details", { class: "trace" }, make("summary", {}, "Trace"), body);
  view.addEventListener("toggle", async () => {
    if (!view.open) return;
    body.replaceChildren(make("p", { class: "muted" }, "Reading the trace …"));
    try {
      body.replaceChildren(...facts(ids, await trace(ids.run_id)));
    } catch {
      body.replaceChildren(...facts(ids, {}), make("p", { class: "problem", role: "alert" }, "The trace cannot be read at the moment."));
    }
  });
  return view;
}

/**
 * @param {import("./protocol.js").Metadata} ids
 * @param {import("./strict.js").Fields} fields
 * @returns {HTMLElement[]}
 */
function facts(ids, fields) {
  /** @type {[string, Node | string | null][]} */
  const rows = [
    ["Run", make("code", {}, ids.run_id)],
    ["Session", make("code", {}, ids.session_id)],
    ["Status", wordOf(fields.status)],
    ["Started", stampOf(fields.started_at)],
    ["Ended", stampOf(fields.completed_at)],
    ["Took", typeof fields.duration_ms === "number" ? duration(fields.duration_ms) : null],
    ["Events", countOf(fields.event_count)],
    ["Tool calls", callsOf(fields.tool_name_counts)],
    ["Model tokens", tokensOf(fields.llm_usage_total)],
    ["Policy", typeof fields.policy_snapshot_hash === "string" ? make("code", {}, fields.policy_snapshot_hash) : null],
  ];
  const list = make("dl", {});
  for (const [name, value] of rows) {
    if (value !== null) list.append(make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  }
  const whole = make("a", { href: tracePath(ids.run_id), target: "_blank", rel: "noopener" }, "The whole trace as JSON");
  return [list, make("p", {}, whole)];
}

/**
 * @param {unknown} value
 * @returns {string | null}
 */
function wordOf(value) {
  return typeof value === "string" && value !== "" ? value : null;
}

/**
 * @param {unknown} value
 * @returns {string | null}
 */
function countOf(value) {
  return typeof value === "number" ? String(value) : null;
}

/**
 * @param {unknown} value
 * @returns {Node | null}
 */
function stampOf(value) {
  return typeof value === "string" && !Number.isNaN(Date.parse(value)) ? moment(value) : null;
}

/**
 * @param {unknown} value
 * @returns {Node | string | null}
 */
function callsOf(value) {
  if (typeof value !== "object" || value === null) return null;
  const calls = Object.entries(value);
  if (calls.length === 0) return "none";
  return make("ul", {}, ...calls.map(([name, count]) => make("li", {}, make("code", {}, name), " × " + String(count))));
}

/**
 * @param {unknown} value
 * @returns {string | null}
 */
function tokensOf(value) {
  if (typeof value !== "object" || value === null) return null;
  return "total_tokens" in value && typeof value.total_tokens === "number" ? String(value.total_tokens) : null;
}

/**
 * Builds the question whether an answer was any good.
 * @param {import("./protocol.js").Metadata} ids
 * @param {string} turn prefix of ids, unique on the page
 * @returns {HTMLElement}
 */
export function feedbackView(ids, turn) {
  const note = make("p", { class: "muted", role: "status" });
  const comment = make("textarea", { id: turn + "-comment", rows: "2", maxlength: "2000" });
  /** @type {"up" | "down"} */
  let rating = "up";
  const form = make("form", { class: "comment", hidden: true },
    make("label", { for: comment.id }, "What should we know? (optional)"), comment,
    make("button", { type: "submit", class: "quiet" }, "Send comment"));
  const up = button("Helpful", "quiet rate", () => rate("up"));
  const down = button("Not helpful", "quiet rate", () => rate("down"));
  /** @param {"up" | "down"} word */
  const rate = (word) => {
    rating = word;
    up.setAttribute("aria-pressed", String(word === "up"));
    down.setAttribute("aria-pressed", String(word === "down"));
    form.hidden = false;
    return send("Thank you.");
  };
  /** @param {string} thanks */
  const send = async (thanks) => {
    try {
      await feedback(ids, rating, comment.value.trim());
      note.textContent = thanks;
    } catch {
      note.textContent = "The feedback could not be stored. Try again.";
    }
  };
  up.setAttribute("aria-pressed", "false");
  down.setAttribute("aria-pressed", "false");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send("Thank you, the comment is stored.");
  });
  return make("div", { class: "feedback" },
    make("div", { class: "rates", role: "group", "aria-label": "Was this helpful?" },
      make("span", { class: "muted", "aria-hidden": "true" }, "Was this helpful?"), up, down, note), form);
}

/**
 * Builds the button that copies a text, where the browser lets a page do that.
 * @param {string} text
 * @returns {HTMLElement | null}
 */
export function copyView(text) {
  const clipboard = navigator.clipboard;
  if (!clipboard) return null;
  const copy = button("Copy", "quiet", async () => {
    try {
      await clipboard.writeText(text);
      copy.textContent = "Copied";
      announce("Copied");
    } catch {
      copy.textContent = "Not copied";
      announce("The answer could not be copied");
    }
    window.setTimeout(() => { copy.textContent = "Copy"; }, 2000);
  });
  return copy;
}
