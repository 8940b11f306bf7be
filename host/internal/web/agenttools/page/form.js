// Makes a form of an input schema, and an input of what was filled in. It knows the shapes of JSON Schema and no tool.

import { button, make } from "./dom.js";
import { clipped, plain, quoted } from "./inert.js";
import { list, object, text, texts } from "./read.js";

/** @typedef {import("./read.js").Fields} Fields */
/** @typedef {import("./objects.js").Objects} Objects */

/** What a person typed cannot be made an input. */
export class Unfit extends Error {}

/**
 * One member of the input.
 * @typedef {object} Member
 * @property {string} name
 * @property {HTMLElement} element
 * @property {() => unknown} value undefined leaves the member out
 */

/** Longer texts than this get more than one line, in characters. */
const ONE_LINE = 128;

let forms = 0;

/** The fields of one form. */
export class Fieldset {
  /** @type {HTMLElement} */ element = make("div", { class: "fields" });
  /** @type {() => unknown} */ #input;

  /**
   * @param {unknown} schema
   * @param {Objects} objects whose ids are offered where they fit
   */
  constructor(schema, objects) {
    forms++;
    const fields = object(schema);
    const properties = object(fields.properties);
    if (fields.type !== "object" || fields.properties === undefined && fields.additionalProperties !== false) {
      const whole = json("input", schema, true);
      this.element.append(whole.element);
      this.#input = whole.value;
      return;
    }
    const required = new Set(texts(fields.required));
    const members = Object.entries(properties).map(([name, property], at) =>
      member(name, object(property), required.has(name), { objects, id: "field-" + forms + "-" + at }));
    this.element.append(...members.map((one) => one.element));
    if (members.length === 0) this.element.append(make("p", { class: "muted" }, "This tool takes no input."));
    this.#input = () => Object.fromEntries(members.map((one) => [one.name, one.value()]).filter(([, value]) => value !== undefined));
  }

  /**
   * Reads what was filled in. Throws Unfit when it can be no input.
   * @returns {unknown}
   */
  input() {
    return this.#input();
  }
}

/**
 * @typedef {object} Place what a field needs of where it stands
 * @property {Objects} objects
 * @property {string} id an id of the page that nobody else has
 */

/**
 * @param {string} name
 * @param {Fields} schema
 * @param {boolean} required
 * @param {Place} place
 * @returns {Member}
 */
function member(name, schema, required, place) {
  if (list(schema.enum).length > 0) return choice(name, schema, required);
  switch (schema.type) {
    case "string": return line(name, schema, required, place);
    case "integer":
    case "number": return amount(name, schema, required);
    case "boolean": return tick(name, schema);
    case "array":
      if (object(schema.items).type === "string") return lines(name, schema, required, place);
  }
  return json(name, schema, required);
}

/**
 * A label with its field inside, so that no untrusted name becomes an id.
 * @param {string} name
 * @param {string} about
 * @param {boolean} required
 * @param {HTMLElement} field
 * @param {...(Node | null)} more
 * @returns {HTMLElement}
 */
function labelled(name, about, required, field, ...more) {
  return make("div", { class: "field" },
    make("label", {}, make("span", { class: "name" }, quoted(clipped(name, 80)), required ? "" : make("span", { class: "muted" }, " (optional)")),
      about !== "" && make("span", { class: "muted about" }, plain(clipped(about, 300))), field), ...more);
}

/**
 * What a schema says of a value, in words.
 * @param {Fields} schema
 * @returns {string}
 */
function about(schema) {
  const words = [text(schema.description)];
  const between = (/** @type {unknown} */ least, /** @type {unknown} */ most, /** @type {string} */ unit) => {
    if (typeof most === "number") words.push((typeof least === "number" ? least + " to " : "at most ") + most + unit);
    else if (typeof least === "number") words.push("at least " + least + unit);
  };
  between(schema.minLength, schema.maxLength, " characters");
  between(schema.minItems, schema.maxItems, " lines");
  between(schema.minimum, schema.maximum, "");
  return words.filter((word) => word !== "").join("; ");
}

/**
 * @param {string} name
 * @param {Fields} schema
 * @param {boolean} required
 * @param {Place} place
 * @returns {Member}
 */
function line(name, schema, required, place) {
  const long = typeof schema.maxLength === "number" && schema.maxLength > ONE_LINE;
  const field = long ? make("textarea", { rows: "2", required, spellcheck: "false", dir: "auto" })
    : make("input", { type: "text", required, autocomplete: "off", spellcheck: "false", dir: "auto" });
  const fits = pattern(schema);
  const offers = !long && fits !== null ? make("datalist", { id: place.id }) : null;
  if (offers !== null && fits !== null) {
    field.setAttribute("list", place.id);
    const offer = () => offers.replaceChildren(...place.objects.ids().filter(fits).map((id) => make("option", { value: id })));
    place.objects.onChange(offer);
    offer();
  }
  return {
    name,
    element: labelled(name, about(schema), required, field, offers),
    value: () => field.value === "" && !required ? undefined : field.value,
  };
}

/**
 * A test of what a schema's pattern takes among texts of which each stands for one thing, or null: patterns that take any
 * word are none.
 * @param {Fields} schema
 * @returns {((id: string) => boolean) | null}
 */
function pattern(schema) {
  const source = text(schema.pattern);
  if (source === "") return null;
  try {
    const expression = new RegExp(source, "u");
    return expression.test("any word") ? null : (id) => expression.test(id);
  } catch {
    return null;
  }
}

/**
 * @param {string} name
 * @param {Fields} schema
 * @param {boolean} required
 * @param {Place} place
 * @returns {Member}
 */
function lines(name, schema, required, place) {
  const needed = required && typeof schema.minItems === "number" && schema.minItems > 0;
  const field = make("textarea", { rows: "2", required: needed, spellcheck: "false", dir: "auto" });
  const items = () => field.value.split("\n").map((item) => item.trim()).filter((item) => item !== "");
  const fits = pattern(object(schema.items));
  const insert = fits === null ? null : button("Insert the ticked objects", "quiet small", () => {
    field.value = [...new Set([...items(), ...place.objects.chosen().filter(fits)])].join("\n");
    field.focus();
  });
  const words = [about(schema), "one on each line"].filter((word) => word !== "").join("; ");
  return {
    name,
    element: labelled(name, words, required, field, insert),
    value: () => items().length === 0 && !required ? undefined : items(),
  };
}

/**
 * @param {string} name
 * @param {Fields} schema
 * @param {boolean} required
 * @returns {Member}
 */
function choice(name, schema, required) {
  const values = list(schema.enum);
  const field = make("select", { required });
  if (!required) field.append(make("option", { value: "" }, "none"));
  field.append(...values.map((value, at) => make("option", { value: String(at) }, plain(clipped(typeof value === "string" ? value : JSON.stringify(value), 80)))));
  return { name, element: labelled(name, about(schema), required, field), value: () => field.value === "" ? undefined : values[Number(field.value)] };
}

/**
 * @param {string} name
 * @param {Fields} schema
 * @param {boolean} required
 * @returns {Member}
 */
function amount(name, schema, required) {
  const field = make("input", { type: "number", required, step: schema.type === "integer" ? "1" : "any" });
  for (const [attribute, bound] of /** @type {const} */ ([["min", schema.minimum], ["max", schema.maximum]])) {
    if (typeof bound === "number") field.setAttribute(attribute, String(bound));
  }
  return { name, element: labelled(name, about(schema), required, field), value: () => field.value === "" ? undefined : Number(field.value) };
}

/**
 * @param {string} name
 * @param {Fields} schema
 * @returns {Member}
 */
function tick(name, schema) {
  const field = make("input", { type: "checkbox" });
  return { name, element: labelled(name, about(schema), true, field), value: () => field.checked };
}

/**
 * Where the page knows no field for a schema, a person writes JSON.
 * @param {string} name
 * @param {unknown} schema
 * @param {boolean} required
 * @returns {Member}
 */
function json(name, schema, required) {
  const field = make("textarea", { rows: "3", required, spellcheck: "false", dir: "ltr" });
  return {
    name,
    element: labelled(name, [about(object(schema)), "as JSON"].filter((word) => word !== "").join("; "), required, field),
    value: () => {
      if (field.value.trim() === "" && !required) return undefined;
      try {
        return JSON.parse(field.value);
      } catch {
        throw new Unfit("What stands in “" + name + "” is not JSON.");
      }
    },
  };
}
