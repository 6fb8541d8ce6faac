// @ts-check
// Figures below the maps whose points are heads: hovering a point shows the head on the maps, a click pins it.
import { fixed } from "./digits.mjs";
import { leave, moveCursor } from "./cursor.mjs";
import { plotly } from "./graph.mjs";
import { cellNamed } from "./heads.mjs";
import { pin } from "./pins.mjs";
import { rules } from "./rules.mjs";
import { state } from "./state.mjs";
import { showTooltip } from "./tooltip.mjs";

/** @typedef {import("./graph.mjs").Graph} Graph */
/** @typedef {{customdata: string, x: number, y: number, xaxis: any, yaxis: any}} Point */

/** @type {Set<Graph>} */
const known = new Set(); // graphs that are listened to

/**
 * Listen to a figure that plotly has drawn.
 * @param {Graph} graph
 */
export function listenToPoints(graph) {
  if (known.has(graph)) return;
  known.add(graph);
  graph.on("plotly_hover", ({ points, event }) => hovered(points[0], event));
  graph.on("plotly_unhover", leave);
  graph.on("plotly_click", ({ points, event }) => pin(points[0].customdata, event.shiftKey));
  graph.on("plotly_afterplot", markPoints);
  markPoints();
}

/**
 * @param {Point} point
 * @param {MouseEvent} event
 */
function hovered(point, event) {
  const heads = state.heads;
  const cell = heads && cellNamed(heads, point.customdata, rules().head);
  if (!heads || !cell) return;
  moveCursor(cell);
  showTooltip(heads, cell, 0, { x: event.clientX, y: event.clientY }, [placeOf(point)]);
}

/**
 * What a point says of its head, such as `Weights 0.65 · Running model 0.69`.
 * @param {Point} point
 */
export function placeOf({ x, y, xaxis, yaxis }) {
  return `${xaxis.title.text} ${fixed(x, 2)} · ${yaxis.title.text} ${fixed(y, 2)}`;
}

/**
 * The places of the pinned heads among a figure's points; null for none, which leaves all points as they are.
 * @param {ArrayLike<string>} names
 * @param {string[]} pins
 * @returns {number[] | null}
 */
export function pinnedPoints(names, pins) {
  const places = [];
  for (let i = 0; i < names.length; i++) if (pins.includes(names[i])) places.push(i);
  return places.length ? places : null;
}

/** Mark the pinned heads in every figure; nothing is drawn again where they are marked already. */
export async function markPoints() {
  for (const graph of known) {
    for (const [at, trace] of /** @type {any[]} */ (graph.data).entries()) {
      const wanted = trace.customdata ? pinnedPoints(trace.customdata, state.pins) : null;
      const isMarked = JSON.stringify(trace.selectedpoints ?? null) === JSON.stringify(wanted);
      if (!isMarked) (await plotly()).restyle(graph, { selectedpoints: [wanted] }, [at]);
    }
  }
}
