// @ts-check
// The pinned heads: in the store, outlined on the maps, and told to screen readers.
import { keepPins } from "./address.mjs";
import { announce, notify } from "./notes.mjs";
import { drawPins } from "./outlines.mjs";
import { PARTS, setStore } from "./page.mjs";
import { rules } from "./rules.mjs";
import { state } from "./state.mjs";

/**
 * The pins after a head was clicked, alone or added to others; null when no more fit.
 * @param {string[]} pins
 * @param {string} name
 * @param {boolean} several
 * @param {number} most
 * @returns {string[] | null}
 */
export function toggled(pins, name, several, most) {
  const isPinned = pins.includes(name);
  if (!several) return isPinned && pins.length === 1 ? [] : [name];
  if (isPinned) return pins.filter((other) => other !== name);
  return pins.length < most ? [...pins, name] : null;
}

/**
 * The pins with one head in place of another, no head twice.
 * @param {string[]} pins
 * @param {string} from
 * @param {string} to
 * @returns {string[]}
 */
export function exchanged(pins, from, to) {
  return [...new Set(pins.map((name) => (name === from ? to : name)))];
}

/**
 * Pin these heads and no others.
 * @param {string[]} names
 */
export function setPins(names) {
  state.pins = names.slice(0, rules().pins);
  keepPins();
  drawPins();
  setStore(PARTS.pins, state.pins);
}

/**
 * Pin a head, or unpin it; alone or in addition to others.
 * @param {string} name
 * @param {boolean} several
 */
export function pin(name, several) {
  const most = rules().pins;
  const pins = toggled(state.pins, name, several, most);
  if (!pins) return notify(`${most} heads are pinned already; unpin one first.`);
  setPins(pins);
  announce(`${name} ${pins.includes(name) ? "pinned" : "unpinned"}`);
}

/**
 * Unpin a head.
 * @param {string} name
 */
export function unpin(name) {
  setPins(state.pins.filter((other) => other !== name));
}

/**
 * Pin a head in place of another.
 * @param {string} from
 * @param {string} to
 */
export function exchange(from, to) {
  setPins(exchanged(state.pins, from, to));
  announce(`${to} instead of ${from}`);
}
