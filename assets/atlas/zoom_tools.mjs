// @ts-check
// What a zoomed page shows beside its maps: how many heads are in view, and a way back to all of them.
import { element } from "./elements.mjs";
import { countOf } from "./heads.mjs";
import { byId, PARTS } from "./page.mjs";
import { countIn, setZoom } from "./zoom.mjs";

/** @typedef {import("./geometry.mjs").Sight} Sight */
/** @typedef {import("./heads.mjs").Heads} Heads */

/** The tools, made when they are first needed. */
function tools() {
  const frame = byId(PARTS.frame);
  const there = /** @type {HTMLElement | null} */ (frame.querySelector(":scope > .zoom-tools"));
  if (there) return there;
  const made = element("div", "zoom-tools");
  const button = element("button", "button", "Show all heads");
  button.addEventListener("click", () => setZoom(null));
  made.append(element("span"), button);
  frame.appendChild(made);
  return made;
}

/**
 * Say what is in view, or nothing when all heads are.
 * @param {Heads} heads
 * @param {Sight} sight
 * @param {boolean} isZoomed
 */
export function showZoom(heads, sight, isZoomed) {
  const part = tools();
  part.hidden = !isZoomed || countIn(sight) === countOf(heads);
  const [some, all] = [countIn(sight), countOf(heads)].map((count) => count.toLocaleString("en"));
  /** @type {HTMLElement} */ (part.firstChild).textContent = `${some} of ${all} heads in view`;
}
