// @ts-check
// The head under the pointer or the keyboard: outlined in every panel, with a tooltip.
import { boxOf } from "./geometry.mjs";
import { axesOf, graph } from "./graph.mjs";
import { announce } from "./notes.mjs";
import { drawCursor } from "./outlines.mjs";
import { state } from "./state.mjs";
import { hideTooltip, showTooltip } from "./tooltip.mjs";
import { announcement } from "./words.mjs";

/** @typedef {import("./heads.mjs").Cell} Cell */

/**
 * Outline a head, or none.
 * @param {Cell | null} cell
 */
export function moveCursor(cell) {
  const before = state.cursor;
  const isSame = cell && before && cell[0] === before[0] && cell[1] === before[1];
  state.cursor = cell;
  if (!isSame) drawCursor();
}

/** No head any more. */
export function leave() {
  state.cursor = null;
  drawCursor();
  hideTooltip();
}

/**
 * Come to a head by the keyboard: it is announced, and has its tooltip in the first panel.
 * @param {Cell} cell
 */
export function focusHead(cell) {
  state.cursor = cell;
  drawCursor();
  const heads = state.heads;
  const drawn = graph();
  if (!heads) return;
  announce(announcement(heads, heads.panels[0], cell));
  const [axes] = drawn ? axesOf(drawn, 1) : [];
  const box = axes && boxOf(axes, cell, heads.across);
  if (!drawn || !box) return;
  const corner = drawn.getBoundingClientRect();
  const point = { x: corner.left + box.left + box.width, y: corner.top + box.top + box.height / 2 };
  showTooltip(heads, cell, 0, point);
}
