// @ts-check
// Outlines of heads above the maps: the one under the cursor, and the pinned ones, in every panel.
import { element } from "./elements.mjs";
import { boxOf } from "./geometry.mjs";
import { axesOf, graph, mapsIn } from "./graph.mjs";
import { cellNamed } from "./heads.mjs";
import { byId, PARTS } from "./page.mjs";
import { rules } from "./rules.mjs";
import { state } from "./state.mjs";

/** @typedef {import("./heads.mjs").Cell} Cell */
/** @typedef {import("./geometry.mjs").Box} Box */

/**
 * A layer above the maps, made when it is first needed.
 * @param {string} name
 * @returns {HTMLElement}
 */
export function overlay(name) {
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
  outline("cursor", state.cursor ? [state.cursor] : []);
}

/** Outline the pinned heads. */
export function drawPins() {
  const cells = [];
  for (const name of state.pins) {
    const cell = state.heads && cellNamed(state.heads, name, rules().head);
    if (cell) cells.push(cell);
  }
  outline("pinned", cells);
}

/**
 * @param {string} name
 * @param {Cell[]} cells
 */
function outline(name, cells) {
  const drawn = graph();
  const heads = state.heads;
  if (!drawn || !heads) return;
  const maps = axesOf(drawn, mapsIn(heads.figure.data).length);
  const boxes = [];
  for (const cell of cells) {
    for (const axes of maps) {
      const box = boxOf(axes, cell, heads.across);
      if (box) boxes.push(box);
    }
  }
  placeMarks(overlay(name), boxes, drawn);
}

/**
 * One mark for each box; marks that are left over are hidden, because making new ones takes longer.
 * @param {HTMLElement} holder
 * @param {Box[]} boxes
 * @param {HTMLElement} drawn
 */
function placeMarks(holder, boxes, drawn) {
  const [right, down] = [drawn.offsetLeft, drawn.offsetTop];
  while (holder.children.length < boxes.length) holder.appendChild(element("i"));
  for (const [i, mark] of [...holder.children].entries()) {
    const { style } = /** @type {HTMLElement} */ (mark);
    style.display = i < boxes.length ? "block" : "none";
    if (i >= boxes.length) continue;
    const { left, top, width, height } = boxes[i];
    style.transform = `translate(${left + right - 2}px, ${top + down - 2}px)`;
    style.width = `${width + 4}px`;
    style.height = `${height + 4}px`;
  }
}
