// @ts-check
// The head under the pointer or the keyboard: outlined in every panel, with a tooltip.
import { boxOf } from "./geometry.mjs";
import { announce } from "./notes.mjs";
import { drawCursor } from "./outlines.mjs";
import { byId, PARTS } from "./page.mjs";
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
  const { heads, sight, boxes } = state;
  if (!heads || !sight || !boxes.length) return;
  announce(announcement(heads, heads.panels[0], cell));
  const box = boxOf(boxes[0], sight, cell, heads);
  if (!box) return hideTooltip();
  const corner = byId(PARTS.maps).getBoundingClientRect();
  const point = { x: corner.left + box.left + box.width, y: corner.top + box.top + box.height / 2 };
  showTooltip(heads, cell, 0, point);
}
