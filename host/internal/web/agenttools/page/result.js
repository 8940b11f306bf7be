// Reads a result when somebody wants it, and shows it whole: state, references, output.

import { get, sentence } from "./api.js";
import { make } from "./dom.js";
import { passage, quoted } from "./inert.js";
import { list, object, refs, text } from "./read.js";
import { facts, jsonView, stateChip, valueView } from "./value.js";

/**
 * Reads and shows a result.
 * @param {string} id
 * @param {import("./objects.js").Objects} objects learns of the objects that the output describes
 * @returns {Promise<HTMLElement>}
 */
export async function resultView(id, objects) {
  let result;
  try {
    result = object(await get("/api/v1/agent-tools/results/" + encodeURIComponent(id)));
  } catch (cause) {
    return make("p", { class: "problem", role: "alert" }, sentence(cause));
  }
  objects.learn(result.output);
  const about = refs(result.object_refs), origins = refs(result.provenance_refs);
  objects.highlight([...about, ...origins]);
  const diagnostic = text(result.diagnostic);
  return make("div", { class: "result" },
    facts(
      ["State", stateChip(text(result.state))],
      ["Tool", quoted(text(result.tool_id))],
      ["About", objects.refsView(about)],
      ["Provenance", objects.refsView(origins)],
      ["Artifacts", many(result.artifacts)],
      ["Observations", many(result.observations)],
    ),
    diagnostic !== "" && passage(diagnostic, "diagnostic"),
    make("div", { class: "output", role: "group", "aria-label": "Output", tabindex: "0" }, valueView(result.output)),
    jsonView(result),
  );
}

/**
 * @param {unknown} value
 * @returns {HTMLElement | null}
 */
function many(value) {
  return list(value).length === 0 ? null : valueView(value);
}
