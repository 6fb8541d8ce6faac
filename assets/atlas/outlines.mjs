// @ts-check
// Outlines of heads above the maps: the one under the cursor, and the pinned ones with their numbers, in every panel.
import { element } from "./elements.mjs";
import { boxOf } from "./geometry.mjs";
import { cellNamed } from "./heads.mjs";
import { byId, PARTS } from "./page.mjs";
import { rules } from "./rules.mjs";
import { state } from "./state.mjs";

/** @typedef {import("./heads.mjs").Cell} Cell */
/** @typedef {import("./geometry.mjs").Box} Box */
/**
 * @typedef {object} Mark an outline
 * @property {Box} box
 * @property {string} badge what stands at its upper right corner
 * @property {boolean} flips at the left one instead
 * @property {boolean} drops below it instead: above the first row there is a title
 */

const [LETTER, AROUND, HIGH] = [6.5, 10, 15]; // pixels of a badge: of a letter, around them, its height
const SMALL = 12; // pixels of a square: a smaller one has a thinner outline

/**
 * A layer above the maps, made when it is first needed.
 * @param {string} name
 * @returns {HTMLElement}
 */
function overlay(name) {
  const frame = byId(PARTS.frame);
  const there = /** @type {HTMLElement | null} */ (frame.querySelector(`:scope > .${name}`));
  if (there) return there;
  const made = element("div", `outlines ${name}`);
  made.setAttribute("aria-hidden", "true");
  frame.appendChild(made);
  return made;
}

/** Outline the head under the pointer or the keyboard. */
export function drawCursor() {
  const marks = state.cursor ? marksOf(state.cursor, () => "") : [];
  placeMarks(overlay("cursor"), marks);
}

/** Outline the pinned heads; each has its name in the first panel, and one of several its number in every panel. */
export function drawPins() {
  const { heads } = state;
  /** @type {Mark[]} */
  const marks = [];
  for (const [i, name] of state.pins.entries()) {
    const cell = heads && cellNamed(heads, name, rules().head);
    const number = state.pins.length > 1 ? String(i + 1) : "";
    if (!cell) continue;
    const mine = marksOf(cell, (map) => (map ? number : `${number} ${name}`.trim()));
    for (const mark of mine) if (marks.some((other) => isOver(badgeOf(mark), badgeOf(other)))) mark.badge = number;
    marks.push(...mine);
  }
  placeMarks(overlay("pinned"), marks);
}

/**
 * Where the badge of a mark is.
 * @param {Mark} mark
 * @returns {Box}
 */
export function badgeOf({ box, badge, flips, drops }) {
  const width = LETTER * badge.length + AROUND;
  const left = flips ? box.left - width : box.left + box.width;
  return { left, top: drops ? box.top + box.height : box.top - HIGH, width, height: HIGH };
}

/**
 * Whether two boxes cover each other.
 * @param {Box} one
 * @param {Box} other
 */
export function isOver(one, other) {
  const isBeside = one.left >= other.left + other.width || other.left >= one.left + one.width;
  return !isBeside && one.top < other.top + other.height && other.top < one.top + one.height;
}

/**
 * A head's squares in all panels.
 * @param {Cell} cell
 * @param {(map: number) => string} badge
 * @returns {Mark[]}
 */
function marksOf(cell, badge) {
  const { heads, sight, boxes } = state;
  if (!heads || !sight) return [];
  const marks = [];
  for (const [map, box] of boxes.entries()) {
    const square = boxOf(box, sight, cell, heads);
    if (!square) continue;
    const mark = { box: square, badge: badge(map), flips: false, drops: square.top - HIGH < box.top - 2 };
    const { left, width } = badgeOf(mark);
    marks.push({ ...mark, flips: left + width > box.left + box.width });
  }
  return marks;
}

/**
 * One element for each mark; those that are left over are hidden, because making new ones takes longer.
 * @param {HTMLElement} holder
 * @param {Mark[]} marks
 */
function placeMarks(holder, marks) {
  const sheet = byId(PARTS.maps);
  const [right, down] = marks.length ? [sheet.offsetLeft, sheet.offsetTop] : [0, 0]; // measured only if need be: it takes long
  while (holder.children.length < marks.length) holder.appendChild(element("i"));
  for (const [i, part] of [...holder.children].entries()) {
    const { style } = /** @type {HTMLElement} */ (part);
    style.display = i < marks.length ? "block" : "none";
    if (i >= marks.length) continue;
    const { box, badge, flips, drops } = marks[i];
    style.transform = `translate(${Math.round(box.left + right - 2)}px, ${Math.round(box.top + down - 2)}px)`;
    style.width = `${Math.round(box.width + 3)}px`;
    style.height = `${Math.round(box.height + 3)}px`;
    part.classList.toggle("small", box.width < SMALL);
    part.classList.toggle("dropped", drops);
    writeBadge(/** @type {HTMLElement} */ (part), badge, flips);
  }
}

/**
 * @param {HTMLElement} mark
 * @param {string} text
 * @param {boolean} flips
 */
function writeBadge(mark, text, flips) {
  if (!text && !mark.firstChild) return;
  const badge = /** @type {HTMLElement} */ (mark.firstChild || mark.appendChild(element("b")));
  if (badge.textContent !== text) badge.textContent = text;
  badge.hidden = !text;
  mark.classList.toggle("flipped", flips);
}
