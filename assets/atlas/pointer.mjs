// @ts-check
// The mouse over the maps: hovering shows a head, a click pins it, a double click resets the zoom.
import { leave, moveCursor } from "./cursor.mjs";
import { afterPlot, resetZoom } from "./drawing.mjs";
import { headAt } from "./geometry.mjs";
import { axesOf, graph, mapsIn } from "./graph.mjs";
import { nameOf } from "./heads.mjs";
import { byId, PARTS } from "./page.mjs";
import { pin, setPins } from "./pins.mjs";
import { state } from "./state.mjs";
import { hideTooltip, showTooltip } from "./tooltip.mjs";

/** @typedef {import("./graph.mjs").Graph} Graph */
/** @typedef {import("./heads.mjs").Cell} Cell */

/**
 * @typedef {object} Mouse
 * @property {Graph | null} graph the one that is listened to
 * @property {(Cell | null)[]} presses where the button went down the last two times
 * @property {string[]} pins as they were before the click that may be the first of two
 */

/** @type {Mouse} */
const mouse = { graph: null, presses: [null, null], pins: [] };

/**
 * Listen to a graph that plotly has drawn; once for each.
 * @param {Graph} drawn
 */
export function listenTo(drawn) {
  if (drawn === mouse.graph) return;
  mouse.graph = drawn;
  drawn.addEventListener("mousemove", moved);
  drawn.addEventListener("mouseleave", leave);
  drawn.addEventListener("mousedown", pressed, true);
  drawn.on("plotly_click", ({ event }) => clicked(event));
  drawn.on("plotly_afterplot", afterPlot);
  drawn.on("plotly_doubleclick", doubleClicked);
}

/**
 * The head under the pointer.
 * @param {MouseEvent} event
 */
function under(event) {
  const drawn = graph();
  const heads = state.heads;
  if (!drawn || !heads) return null;
  const corner = drawn.getBoundingClientRect();
  const maps = axesOf(drawn, mapsIn(heads.figure.data).length);
  return headAt(maps, event.clientX - corner.left, event.clientY - corner.top, heads);
}

/**
 * @param {MouseEvent} event
 */
function moved(event) {
  const hit = under(event);
  moveCursor(hit && hit.cell);
  if (hit && state.heads) showTooltip(state.heads, hit.cell, hit.map, { x: event.clientX, y: event.clientY });
  else hideTooltip();
}

/**
 * @param {MouseEvent} event
 */
function pressed(event) {
  const hit = under(event);
  mouse.presses = [mouse.presses[1], hit && hit.cell];
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
  if (!hit || !state.heads || (event.detail > 1 && isDouble())) return; // a double click resets the zoom
  mouse.pins = state.pins;
  pin(nameOf(state.heads, hit.cell), event.shiftKey);
  byId(PARTS.frame).focus({ preventScroll: true });
}

/** The first click of the two has pinned a head: the pins are put back. */
function doubleClicked() {
  if (!isDouble()) return; // two quick clicks on two heads
  setPins(mouse.pins);
  resetZoom();
}
