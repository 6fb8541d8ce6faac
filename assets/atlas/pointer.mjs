// @ts-check
// The pointer over the maps: hovering shows a head, a click or tap pins it, dragging zooms, a double click shows all again.
import { leave, moveCursor } from "./cursor.mjs";
import { wantCard } from "./drawer.mjs";
import { element } from "./elements.mjs";
import { headAt, mapAt, spotAt } from "./geometry.mjs";
import { nameOf } from "./heads.mjs";
import { byId, PARTS } from "./page.mjs";
import { pin, setPins } from "./pins.mjs";
import { state } from "./state.mjs";
import { hideTooltip, showTooltip } from "./tooltip.mjs";
import { setZoom, zoomBetween, zoomed } from "./zoom.mjs";

/** @typedef {import("./heads.mjs").Cell} Cell */
/** @typedef {{left: number, top: number}} Point pixels from the sheet's corner */

/**
 * @typedef {object} Mouse
 * @property {Element | null} sheet the one that is listened to
 * @property {{map: number, start: Point, moved: boolean} | null} drag
 * @property {boolean} hasDragged the click that follows a drag is none
 * @property {(Cell | null)[]} presses where the button went down the last two times
 * @property {string[]} pins as they were before the click that may be the first of two
 */

/** @type {Mouse} */
const mouse = { sheet: null, drag: null, hasDragged: false, presses: [null, null], pins: [] };

const FAR = 5; // pixels that make a drag of a press

/** Listen to the maps; once. */
export function listen() {
  const sheet = byId(PARTS.maps);
  if (sheet === mouse.sheet) return;
  mouse.sheet = sheet;
  sheet.addEventListener("mousemove", moved);
  sheet.addEventListener("mouseleave", leave);
  sheet.addEventListener("pointerdown", pressed);
  sheet.addEventListener("pointermove", dragged);
  sheet.addEventListener("pointerup", released);
  sheet.addEventListener("pointercancel", cancelled);
  sheet.addEventListener("click", clicked);
  sheet.addEventListener("dblclick", doubleClicked);
}

/**
 * @param {MouseEvent} event
 * @returns {Point}
 */
function pointOf(event) {
  const corner = byId(PARTS.maps).getBoundingClientRect();
  return { left: event.clientX - corner.left, top: event.clientY - corner.top };
}

/**
 * The head under the pointer.
 * @param {MouseEvent} event
 */
function under(event) {
  const { heads, sight, boxes } = state;
  const { left, top } = pointOf(event);
  return heads && sight && headAt(boxes, sight, left, top, heads);
}

/**
 * @param {MouseEvent} event
 */
function moved(event) {
  const hit = mouse.drag?.moved ? null : under(event);
  moveCursor(hit && hit.cell);
  if (hit && state.heads) showTooltip(state.heads, hit.cell, hit.map, { x: event.clientX, y: event.clientY });
  else hideTooltip();
}

/**
 * @param {PointerEvent} event
 */
function pressed(event) {
  const hit = under(event);
  mouse.presses = [mouse.presses[1], hit && hit.cell];
  mouse.hasDragged = false;
  if (event.button !== 0 || event.pointerType === "touch") return; // a finger scrolls the page
  const start = pointOf(event);
  const map = mapAt(state.boxes, start.left, start.top);
  if (map >= 0) mouse.drag = { map, start, moved: false };
}

/**
 * @param {PointerEvent} event
 */
function dragged(event) {
  const { drag } = mouse;
  if (!drag) return;
  const point = pointOf(event);
  const far = Math.max(Math.abs(point.left - drag.start.left), Math.abs(point.top - drag.start.top));
  if (!drag.moved && far < FAR) return;
  if (!drag.moved) byId(PARTS.maps).setPointerCapture(event.pointerId);
  drag.moved = true;
  showBand(drag.map, drag.start, point);
}

/**
 * @param {PointerEvent} event
 */
function released(event) {
  const { drag } = mouse;
  const { heads, sight } = state;
  cancelled();
  if (!drag || !drag.moved || !heads || !sight) return;
  mouse.hasDragged = true;
  const box = state.boxes[drag.map];
  const point = pointOf(event);
  const [one, other] = [drag.start, point].map(({ left, top }) => spotAt(box, sight, left, top));
  const zoom = zoomBetween(one, other, heads);
  if (zoom) setZoom(zoom);
}

function cancelled() {
  mouse.drag = null;
  band().hidden = true;
}

/** The rectangle that is being dragged, made when it is first needed. */
function band() {
  const sheet = byId(PARTS.maps);
  const there = /** @type {HTMLElement | null} */ (sheet.querySelector(":scope > .band"));
  return there || sheet.appendChild(element("div", "band"));
}

/**
 * @param {number} map
 * @param {Point} start
 * @param {Point} end
 */
function showBand(map, start, end) {
  const box = state.boxes[map];
  const within = (/** @type {number} */ value, /** @type {number} */ from, /** @type {number} */ length) =>
    Math.min(Math.max(value, from), from + length);
  const lefts = [start.left, end.left].map((left) => within(left, box.left, box.width));
  const tops = [start.top, end.top].map((top) => within(top, box.top, box.height));
  const part = band();
  part.hidden = false;
  part.style.left = `${Math.min(...lefts)}px`;
  part.style.top = `${Math.min(...tops)}px`;
  part.style.width = `${Math.abs(lefts[0] - lefts[1])}px`;
  part.style.height = `${Math.abs(tops[0] - tops[1])}px`;
}

/** Whether the last two presses were on the same head. */
function isDouble() {
  const [first, second] = mouse.presses;
  return first !== null && second !== null && first.join() === second.join();
}

/**
 * @param {MouseEvent} event
 */
function clicked(event) {
  const hit = under(event);
  const isSecond = event.detail > 1 && isDouble(); // a double click shows all heads again
  if (!hit || !state.heads || mouse.hasDragged || isSecond) return;
  mouse.pins = state.pins;
  wantCard();
  pin(nameOf(state.heads, hit.cell), event.shiftKey);
  byId(PARTS.frame).focus({ preventScroll: true });
  if (event instanceof PointerEvent && event.pointerType === "touch") leave(); // the card says all that a tooltip would
}

/** The first click of the two has pinned a head: the pins are put back. */
function doubleClicked() {
  if (!isDouble()) return; // two quick clicks on two heads
  setPins(mouse.pins);
  if (zoomed()) setZoom(null);
}
