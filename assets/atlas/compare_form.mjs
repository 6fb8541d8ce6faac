// @ts-check
// What a comparison is of: the form, its address, and the words of what is chosen.
import { element } from "./elements.mjs";
import { queryString, settingsOf, written } from "./query.mjs";

/** @typedef {[words: string, tone: string]} Class */
/** @typedef {"x" | "y"} Side of the form: left and right */

const NO_TONE = { light: "#c3c9d1", dark: "#4a5260" }; // of a class in which there is nothing to show

/**
 * A part of the page.
 * @param {string} id
 */
export function part(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

export function form() {
  return /** @type {HTMLFormElement} */ (part("compare-form"));
}

/** What the form says, by the keys of the address. */
export function chosen() {
  /** @type {Record<string, string>} */
  const values = {};
  for (const [key, value] of new FormData(form())) values[key] = String(value);
  return values;
}

/** The address of the page with what the form says. */
export function address() {
  return `/compare${queryString(written(chosen(), settingsOf(form())))}`;
}

/**
 * The key of a side's number, with how its samples are taken together.
 * @param {Side} side
 */
export function keyOf(side) {
  const values = chosen();
  const over = values[`${side}_over`];
  return over ? `${values[side]}@${over}` : values[side];
}

/**
 * The id of the custom relation set whose scores are among a side's numbers; empty for none.
 * @param {Side} side
 * @returns {string}
 */
export function ownOf(side) {
  return JSON.parse(form().dataset.own || "{}")[side] || "";
}

/** @param {string} name */
function picker(name) {
  return /** @type {HTMLSelectElement} */ (document.querySelector(`select[name=${name}]`));
}

/**
 * The words of a side's number.
 * @param {Side} side
 */
export function wordsOf(side) {
  const option = picker(side).selectedOptions[0];
  if (!option) return "";
  const group = option.parentElement instanceof HTMLOptGroupElement ? `${option.parentElement.label}, ` : "";
  const over = picker(`${side}_over`);
  const samples = over.value ? ` (${over.selectedOptions[0].textContent})` : "";
  return `${group}${option.textContent}${samples}`;
}

/** Say beside the name of every picker the group that its choice is of, which a closed picker does not. */
export function nameGroups() {
  for (const select of form().querySelectorAll("select")) {
    const group = select.selectedOptions[0]?.parentElement;
    const beside = select.closest("label")?.querySelector("span b");
    if (beside) beside.textContent = group instanceof HTMLOptGroupElement ? ` · ${group.label}` : "";
  }
}

/**
 * Where in the list of samples a number is looked for: they are the same for all items.
 * @param {string} key
 */
export function kindOf(key) {
  const parts = key.split("/");
  return `${parts[0]}/${parts[parts.length - 1]}`;
}

/**
 * Offer the samples of the number that a side shows, beginning with their mean.
 * @param {Side} side
 */
export function offerSamples(side) {
  const over = picker(`${side}_over`);
  /** @type {Record<string, string>} */
  const words = JSON.parse(form().dataset.over || "{}");
  /** @type {string[]} */
  const samples = JSON.parse(form().dataset.samples || "{}")[side][kindOf(picker(side).value)] || [];
  const before = over.value;
  over.replaceChildren(
    optionOf("", words[samples.length ? "mean" : "one"]),
    ...samples.map((sample) => optionOf(sample, words[sample] || sample)),
  );
  over.disabled = !samples.length;
  if (samples.includes(before)) over.value = before;
}

/**
 * @param {string} value
 * @param {string} text
 */
function optionOf(value, text) {
  const made = element("option", "", text);
  made.value = value;
  return made;
}

/**
 * Select what is inside a rectangle; it is a field of the form that nobody sees, and so is in the address.
 * @param {string} text
 */
export function setBrush(text) {
  /** @type {HTMLInputElement} */ (form().elements.namedItem("brush")).value = text;
}

/**
 * The classes that are the values of a number; null when it has none.
 * @param {string} key
 * @returns {Class[] | null}
 */
export function classesOf(key) {
  return JSON.parse(form().dataset.classes || "{}")[key.split("/")[0]] || null;
}

/**
 * The colour of a class in the page's theme.
 * @param {Class} one
 */
export function classColour([, tone]) {
  const root = document.documentElement;
  if (!tone) return root.dataset.mantineColorScheme === "dark" ? NO_TONE.dark : NO_TONE.light;
  return getComputedStyle(root).getPropertyValue(`--tone-${tone}`).trim();
}
