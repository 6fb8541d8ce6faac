// @ts-check
// The search field: a head's name pins the head and brings the keyboard to it; other words lead to the heads they are about.
import { focusHead } from "./cursor.mjs";
import { cellNamed, nameOf, parseName } from "./heads.mjs";
import { notify } from "./notes.mjs";
import { byId, PARTS } from "./page.mjs";
import { setPins } from "./pins.mjs";
import { answersOf } from "./query.mjs";
import { rules } from "./rules.mjs";
import { state } from "./state.mjs";
import { hideSuggestions } from "./suggestions.mjs";

/** @typedef {import("./heads.mjs").Heads} Heads */

/**
 * Why a text leads to no head.
 * @param {Pick<Heads, "layers" | "heads">} heads
 * @param {string} text
 * @param {RegExp} pattern
 */
export function refusal(heads, text, pattern) {
  const start = text.slice(0, 40);
  if (!parseName(text, pattern)) return `${start} is not a head's name: write layer and head, such as 10.7 or L10H7.`;
  return `There is no head ${start} here: layers go to ${heads.layers.at(-1)}, heads to ${heads.heads - 1}.`;
}

/**
 * Go to the head that was typed.
 * @param {string} text
 */
export function search(text) {
  const heads = state.heads;
  if (!heads) return;
  const cell = cellNamed(heads, text, rules().head);
  if (!cell && !parseName(text, rules().head) && text.trim()) return location.assign(answersOf(text, heads.model, heads.own));
  if (!cell) return notify(refusal(heads, text, rules().head));
  hideSuggestions();
  setPins([nameOf(heads, cell)]);
  byId(PARTS.frame).focus();
  focusHead(cell);
}

/** Put the keyboard into the field. */
export function startSearch() {
  const field = /** @type {HTMLInputElement} */ (byId(PARTS.search));
  field.focus();
  field.select();
}
