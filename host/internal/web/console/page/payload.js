// The three things that may be released as an answer, and how each must look.

import { Violation } from "./frames.js";
import { asID, asList, asObject, asOneOf, asText, haveKeys } from "./strict.js";

/**
 * @typedef {"info" | "warning" | "critical"} Severity
 * @typedef {{ statement: string, severity: Severity, evidence_ids: string[] }} Finding
 * @typedef {{ evidence_id: string, source: string, title: string, observed_at: string }} Evidence
 * @typedef {{ summary: string, findings: Finding[], likely_cause: string, recommended_actions: string[],
 *   evidence: Evidence[] }} Report
 * @typedef {{ kind: "ANSWER", text: string }} AnswerContent
 * @typedef {{ kind: "DIAGNOSIS_REPORT", report: Report }} ReportContent
 * @typedef {{ kind: "FALLBACK", text: string }} FallbackContent
 * @typedef {AnswerContent | ReportContent | FallbackContent} Content
 */

/** @type {readonly ["ANSWER", "DIAGNOSIS_REPORT", "FALLBACK"]} */
const KINDS = ["ANSWER", "DIAGNOSIS_REPORT", "FALLBACK"];

/** @type {readonly ["info", "warning", "critical"]} */
const SEVERITIES = ["info", "warning", "critical"];

/**
 * Reads the data of a content event.
 * @param {import("./strict.js").Fields} fields
 * @returns {Content}
 */
export function readContent(fields) {
  haveKeys(fields, ["content_type", "payload"]);
  const kind = asOneOf(fields.content_type, KINDS);
  if (kind === "DIAGNOSIS_REPORT") return { kind, report: readReport(fields.payload) };
  const payload = asObject(fields.payload);
  haveKeys(payload, ["text"]);
  return { kind, text: asText(payload.text) };
}

/**
 * @param {unknown} value
 * @returns {Report}
 */
function readReport(value) {
  const fields = asObject(value);
  haveKeys(fields, ["summary", "findings", "likely_cause", "recommended_actions", "evidence"]);
  const report = {
    summary: asText(fields.summary),
    findings: asList(fields.findings, readFinding),
    likely_cause: asString(fields.likely_cause),
    recommended_actions: asList(fields.recommended_actions, asText),
    evidence: asList(fields.evidence, readEvidence),
  };
  const known = new Set(report.evidence.map((item) => item.evidence_id));
  if (known.size !== report.evidence.length) throw new Violation("an evidence id stands twice");
  if (!report.findings.every((finding) => finding.evidence_ids.every((id) => known.has(id)))) {
    throw new Violation("a finding cites evidence that is not there");
  }
  return report;
}

/**
 * @param {unknown} value
 * @returns {Finding}
 */
function readFinding(value) {
  const fields = asObject(value);
  haveKeys(fields, ["statement", "severity", "evidence_ids"]);
  return {
    statement: asText(fields.statement),
    severity: asOneOf(fields.severity, SEVERITIES),
    evidence_ids: asList(fields.evidence_ids, asID),
  };
}

/**
 * @param {unknown} value
 * @returns {Evidence}
 */
function readEvidence(value) {
  const fields = asObject(value);
  haveKeys(fields, ["evidence_id", "source", "title", "observed_at"]);
  const observed = asText(fields.observed_at);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(observed) || Number.isNaN(Date.parse(observed))) {
    throw new Violation("a time is not valid");
  }
  return {
    evidence_id: asID(fields.evidence_id),
    source: asText(fields.source),
    title: asText(fields.title),
    observed_at: observed,
  };
}

/**
 * @param {unknown} value
 * @returns {string}
 */
function asString(value) {
  if (typeof value !== "string") throw new Violation("a text is missing");
  return value;
}
