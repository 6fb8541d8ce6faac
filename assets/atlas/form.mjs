// @ts-check
// The form for an analysis: whatever fields stand in it are sent by their names. What is left empty is not sent.
import { element } from "./elements.mjs";
import { submitJob } from "./jobs.mjs";
import { notify } from "./notes.mjs";
import { byId, PARTS } from "./page.mjs";
import { rules } from "./rules.mjs";

/** @typedef {"text" | "lines" | "number" | "numbers" | "flag" | "choice" | "choices" | "files" | "file"} FieldType */
/** @typedef {{name: string, size: number, text: () => Promise<string>}} Upload */
/** @typedef {import("./jobs.mjs").Problem} Problem */

/**
 * @typedef {object} Field a field as it stands in the form
 * @property {string} name
 * @property {FieldType} type
 * @property {string[]} methods the methods whose settings it belongs to; none for those of every analysis
 * @property {string} missing what is said when it is empty; empty when it may be
 * @property {string} text what was typed
 * @property {string[]} ticked values of the ticked boxes
 * @property {Upload[]} files
 */

const METHODS = "methods"; // the field whose choices say which settings count

/**
 * The numbers in a text, separated by spaces, commas, semicolons or arrows. What is no number stays as it was typed, so
 * that the server can name it.
 * @param {string} text
 * @returns {(number | string)[]}
 */
export function parseNumbers(text) {
  return text.split(/[\s,;→]+/).filter(Boolean).map(parseNumber);
}

/**
 * @param {string} text
 * @returns {number | string}
 */
function parseNumber(text) {
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

/**
 * The lines of a text that are not empty.
 * @param {string} text
 */
export function parseLines(text) {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

/**
 * A file as it is sent.
 * @param {Upload} file
 */
async function sent(file) {
  return { name: file.name, content: await file.text() };
}

/**
 * How the value of a field is read, by its type; undefined when it is empty.
 * @type {Record<FieldType, (field: Field) => unknown>}
 */
const READERS = {
  text: ({ text }) => text.trim() || undefined,
  lines: ({ text }) => (text.trim() ? parseLines(text) : undefined),
  number: ({ text }) => (text.trim() ? parseNumber(text.trim()) : undefined),
  numbers: ({ text }) => (text.trim() ? parseNumbers(text) : undefined),
  flag: ({ ticked }) => (ticked.length ? true : undefined),
  choice: ({ ticked }) => ticked[0],
  choices: ({ ticked }) => (ticked.length ? ticked : undefined),
  files: ({ files }) => (files.length ? Promise.all(files.map(sent)) : undefined),
  file: ({ files }) => (files.length ? sent(files[0]) : undefined),
};

/**
 * The fields that count: settings of methods only when one of them was chosen.
 * @param {Field[]} fields
 */
export function chosenFields(fields) {
  const chosen = fields.filter((field) => field.name === METHODS).flatMap((field) => field.ticked);
  return fields.filter(({ methods }) => !methods.length || methods.some((method) => chosen.includes(method)));
}

/**
 * What is wrong with the fields, each with its name; nothing when they can be sent.
 * @param {Field[]} fields
 * @param {number} largest bytes of a file
 * @returns {Problem[]}
 */
export function complaints(fields, largest) {
  const problems = [];
  for (const field of fields) {
    if (field.missing && READERS[field.type](field) === undefined) {
      problems.push({ field: field.name, words: field.missing });
    }
    for (const { name } of field.files.filter((file) => file.size > largest)) {
      problems.push({ field: field.name, words: `${name} is too large: a file may have at most ${largest / 1e6} MB.` });
    }
  }
  return problems;
}

/**
 * Files of methods that are not ticked, which would otherwise stay behind without a word.
 * @param {Field[]} all
 * @param {Field[]} fields those that count
 * @returns {Problem[]}
 */
export function unusedFiles(all, fields) {
  const problems = [];
  for (const field of all) {
    if (field.files.length && !fields.includes(field)) {
      problems.push({ field: field.name, words: `No ticked method takes ${field.files[0].name}.` });
    }
  }
  return problems;
}

/**
 * What is sent to the server: the value of every field that is not empty.
 * @param {Field[]} fields
 * @returns {Promise<Record<string, unknown>>}
 */
export async function collected(fields) {
  /** @type {Record<string, unknown>} */
  const body = {};
  for (const field of fields) {
    const value = await READERS[field.type](field);
    if (value !== undefined) body[field.name] = value;
  }
  return body;
}

/**
 * A field as it stands on the page.
 * @param {HTMLElement} wrapper
 * @returns {Field}
 */
function fieldIn(wrapper) {
  const { field: name = "", type = "text", missing = "" } = wrapper.dataset;
  const settings = /** @type {HTMLElement | null} */ (wrapper.closest("[data-methods]"));
  const inputs = [...wrapper.querySelectorAll("input, textarea, select")].map(
    (input) => /** @type {HTMLInputElement} */ (input),
  );
  return {
    name,
    type: /** @type {FieldType} */ (type),
    methods: (settings?.dataset.methods || "").split(" ").filter(Boolean),
    missing,
    text: inputs[0]?.value || "",
    ticked: inputs.filter((input) => input.checked).map((input) => input.value),
    files: inputs.flatMap((input) => [...(input.files || [])]),
  };
}

/**
 * Say what is wrong: under the field that it is about, else below the form; each in a line of its own.
 * @param {HTMLElement} form
 * @param {Problem[]} problems
 */
function showProblems(form, problems) {
  for (const old of form.querySelectorAll(".problem")) old.remove();
  for (const { field, words } of problems) {
    const wrapper = field ? form.querySelector(`[data-field="${CSS.escape(field)}"]`) : null;
    const line = element("p", "problem", words);
    line.setAttribute("role", "alert");
    (wrapper || form).append(line);
    wrapper?.closest("details")?.setAttribute("open", "");
  }
  const first = form.querySelector(".problem");
  first?.scrollIntoView({ block: "nearest" });
  first?.closest("[data-field]")?.querySelector("input")?.focus();
}

/** Send what the form says, and tell what became of it. */
export async function submitForm() {
  const form = byId(PARTS.form);
  const wrappers = form.querySelectorAll("[data-field]");
  const all = [...wrappers].map((wrapper) => fieldIn(/** @type {HTMLElement} */ (wrapper)));
  const fields = chosenFields(all);
  const wrong = [...complaints(fields, rules().upload), ...unusedFiles(all, fields)];
  if (wrong.length) return showProblems(form, wrong);
  const { job, problems } = await submitJob(await collected(fields));
  showProblems(form, problems);
  if (job) notify(`${job.model} will be analysed.`);
}
