// @ts-check
// Short messages: a note at the bottom of the page, and announcements for screen readers.
import { atTheEnd } from "./elements.mjs";
import { byId, PARTS } from "./page.mjs";

const SHOWN_FOR = 3500; // milliseconds

/** @type {{hide: ReturnType<typeof setTimeout> | undefined}} */
const timer = { hide: undefined };

/**
 * Say something to screen readers alone.
 * @param {string} text
 */
export function announce(text) {
  byId(PARTS.live).textContent = text;
}

/**
 * Show a note for some seconds, and announce it.
 * @param {string} text
 */
export function notify(text) {
  const note = atTheEnd("note");
  note.textContent = text;
  note.className = "shown";
  announce(text);
  clearTimeout(timer.hide);
  timer.hide = setTimeout(() => (note.className = ""), SHOWN_FOR);
}
