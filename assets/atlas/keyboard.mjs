// @ts-check
// The keyboard: arrows walk over the heads of the focused maps, and a few keys work everywhere.
import { copyLink } from "./address.mjs";
import { isArrow, stepped } from "./arrows.mjs";
import { closeMenus } from "./buttons.mjs";
import { focusHead, leave } from "./cursor.mjs";
import { cellNamed, nameOf } from "./heads.mjs";
import { announce } from "./notes.mjs";
import { byId, dash, near, PARTS } from "./page.mjs";
import { pin, setPins } from "./pins.mjs";
import { rules } from "./rules.mjs";
import { search, startSearch } from "./search.mjs";
import { state } from "./state.mjs";

/** @typedef {import("./heads.mjs").Heads} Heads */

/** @type {Record<string, () => void>} */
const SHORTCUTS = {
  "/": startSearch,
  "?": () => dash().set_props(PARTS.help, { opened: true }),
  t: () => byId(PARTS.transpose).click(),
  c: copyLink,
};

const TYPED_INTO = "input:not([type=radio]):not([type=checkbox]), textarea, [contenteditable], .ag-cell-inline-editing";

/**
 * Walk from the cursor or the first pin; without either, begin at the first head.
 * @param {Heads} heads
 * @param {string} key
 */
function walk(heads, key) {
  const from = state.cursor || cellNamed(heads, state.pins[0], rules().head);
  focusHead(from ? stepped(from, key, heads) : [0, 0]);
}

/**
 * Do what a key asks for.
 * @param {KeyboardEvent} event
 */
export function keyed(event) {
  const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
  const heads = state.heads;
  if (hasModifier || !heads || document.querySelector("[role=dialog]")) return;
  const isHandled = inTheMaps(event, heads) || inAField(event) || anywhere(event);
  if (isHandled) event.preventDefault();
}

/**
 * @param {KeyboardEvent} event
 * @param {Heads} heads
 * @returns {boolean} whether the key meant something there
 */
function inTheMaps(event, heads) {
  if (!(event.target instanceof Element) || event.target.id !== PARTS.frame) return false;
  if (isArrow(event.key)) {
    walk(heads, event.key);
    return true;
  }
  if ((event.key !== "Enter" && event.key !== " ") || !state.cursor) return false;
  pin(nameOf(heads, state.cursor), event.shiftKey);
  return true;
}

/**
 * @param {KeyboardEvent} event
 * @returns {boolean} whether the key meant something there
 */
function inAField(event) {
  if (event.key !== "Enter") return false;
  if (event.target instanceof HTMLInputElement && event.target.id === PARTS.search) {
    search(event.target.value);
    return true;
  }
  const name = near(event, ".ag-row")?.getAttribute("row-id");
  if (!name) return false;
  pin(name, event.shiftKey);
  return true;
}

/**
 * @param {KeyboardEvent} event
 * @returns {boolean} whether the key meant something
 */
function anywhere(event) {
  const field = near(event, TYPED_INTO);
  if (event.key === "Escape") {
    escaped(field);
    return true;
  }
  if (field || !Object.hasOwn(SHORTCUTS, event.key)) return false;
  SHORTCUTS[event.key]();
  return true;
}

/**
 * Close a menu, leave a field, or else clear the pins.
 * @param {HTMLElement | null} field
 */
function escaped(field) {
  if (closeMenus()) return;
  leave();
  if (field) field.blur();
  else if (state.pins.length) {
    setPins([]);
    announce("Pins cleared");
  }
}
