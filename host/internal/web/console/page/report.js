// Shows what was released: an answer, a diagnosis report or the fallback.

import { make, moment, paragraphs } from "./dom.js";

/** @type {{ [severity in import("./payload.js").Severity]: string }} */
const SEVERITY_LABELS = { info: "Info", warning: "Warning", critical: "Critical" };

/**
 * Builds the released content.
 * @param {import("./payload.js").Content} content
 * @param {string} turn prefix of ids, unique on the page
 * @returns {HTMLElement}
 */
export function contentView(content, turn) {
  switch (content.kind) {
    case "ANSWER":
      return make("div", { class: "content answer" }, ...paragraphs(content.text));
    case "FALLBACK":
      return make("div", { class: "content fallback" },
        make("h3", {}, "No checked answer"), ...paragraphs(content.text));
    case "DIAGNOSIS_REPORT":
      return reportView(content.report, turn);
  }
}

/**
 * Writes the released content as plain text, reports as Markdown.
 * @param {import("./payload.js").Content} content
 * @returns {string}
 */
export function contentText(content) {
  if (content.kind !== "DIAGNOSIS_REPORT") return content.text;
  const { summary, findings, likely_cause, recommended_actions, evidence } = content.report;
  return [
    "# Diagnosis", summary,
    "## Findings", ...findings.map((f) => `- **${SEVERITY_LABELS[f.severity]}** ${f.statement} [${f.evidence_ids.join(", ")}]`),
    ...(likely_cause.trim() === "" ? [] : ["## Likely cause", likely_cause]),
    ...(recommended_actions.length === 0 ? [] : ["## Recommended actions"]),
    ...recommended_actions.map((action, i) => `${i + 1}. ${action}`),
    "## Evidence", ...evidence.map((e) => `- [${e.evidence_id}] ${e.source}: ${e.title} (${e.observed_at})`),
  ].join("\n\n");
}

/**
 * @param {import("./payload.js").Report} report
 * @param {string} turn
 * @returns {HTMLElement}
 */
function reportView(report, turn) {
  const numbers = new Map(report.evidence.map((item, i) => [item.evidence_id, i + 1]));
  return make("div", { class: "content report" },
    make("h3", { class: "kicker" }, "Diagnosis"),
    make("div", { class: "summary" }, ...paragraphs(report.summary)),
    part("Findings", report.findings.length > 0 &&
      make("ul", { class: "findings" }, ...report.findings.map((finding) => findingView(finding, numbers, turn)))),
    part("Likely cause", report.likely_cause.trim() !== "" && make("div", { class: "cause" }, ...paragraphs(report.likely_cause))),
    part("Recommended actions", report.recommended_actions.length > 0 &&
      make("ol", { class: "actions" }, ...report.recommended_actions.map((action) => make("li", {}, action)))),
    part("Evidence", report.evidence.length > 0 &&
      make("ol", { class: "evidence" }, ...report.evidence.map((item, i) => evidenceView(item, i + 1, turn)))));
}

/**
 * @param {string} title
 * @param {HTMLElement | false} body
 * @returns {HTMLElement | false}
 */
function part(title, body) {
  return body && make("section", { class: "part" }, make("h4", {}, title), body);
}

/**
 * @param {import("./payload.js").Finding} finding
 * @param {Map<string, number>} numbers
 * @param {string} turn
 * @returns {HTMLElement}
 */
function findingView(finding, numbers, turn) {
  const links = finding.evidence_ids.map((id) => {
    const number = String(numbers.get(id));
    return make("a", { href: `#${turn}-evidence-${number}`, "aria-label": "Evidence " + number, title: id }, number);
  });
  return make("li", { class: "finding " + finding.severity },
    make("span", { class: "severity" }, SEVERITY_LABELS[finding.severity]),
    make("span", { class: "statement" }, finding.statement, " ", links.length > 0 && make("span", { class: "cites" }, ...links)));
}

/**
 * @param {import("./payload.js").Evidence} item
 * @param {number} number
 * @param {string} turn
 * @returns {HTMLElement}
 */
function evidenceView(item, number, turn) {
  return make("li", { id: `${turn}-evidence-${number}`, tabindex: "-1" },
    make("span", { class: "number", "aria-hidden": "true" }, String(number)),
    make("div", {},
      make("p", { class: "title" }, item.title),
      make("p", { class: "origin" }, make("span", { class: "source" }, item.source), moment(item.observed_at),
        make("code", {}, item.evidence_id))));
}
