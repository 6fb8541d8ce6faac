// @ts-check
// What the pages beside the maps share: links are copied, and / leads to the search field.
import { listenToCopying } from "./clipboard.mjs";

const TYPED_INTO = "input, textarea, select, [contenteditable], dialog";

/** @param {KeyboardEvent} event */
function keyed(event) {
  const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
  const isTyping = event.target instanceof Element && event.target.closest(TYPED_INTO);
  const field = /** @type {HTMLInputElement | null} */ (document.querySelector(".top input[type=search]"));
  if (event.key !== "/" || hasModifier || isTyping || !field) return;
  event.preventDefault();
  field.focus();
  field.select();
}

/** Begin to listen, once for a page. */
export function listenBeside() {
  listenToCopying();
  document.addEventListener("keydown", keyed);
}
