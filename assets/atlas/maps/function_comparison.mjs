// @ts-check
// The figure that compares two results head by head, as it follows the controls (dashboard/maps/function/scatter.py).
import { countOf, nameOf } from "../heads.mjs";
import { decisionOf, kindsOf } from "./function_labels.mjs";
import { toneOf } from "./palette.mjs";

/** @typedef {import("../heads.mjs").Heads} Heads */
/** @typedef {import("./function.mjs").Numbers} Numbers */
/** @typedef {import("./function_labels.mjs").FunctionState} FunctionState */
/** @typedef {import("./palette.mjs").Palette} Palette */

/**
 * What the figure is to have instead; null for a relation that only one result has.
 * @param {Numbers} one
 * @param {Numbers} other
 * @param {Pick<Heads, "layers" | "heads" | "state">} heads
 * @param {Palette} palette
 */
export function comparisonOf(one, other, heads, palette) {
  const points = pointsOf(one, other, heads);
  if (!points) return null;
  const { x, y, names, tone } = points;
  const tau = Number(heads.state.tau);
  return {
    data: { x: [x], y: [y], customdata: [names], meta: [{ tone }], "marker.color": [toneOf(palette, tone)] },
    layout: { "shapes[1].x0": tau, "shapes[1].x1": tau, "shapes[2].y0": tau, "shapes[2].y1": tau },
  };
}

/**
 * A point for each head that has both scores and is not 0 in both; null for a relation that only one result has.
 * @param {Numbers} one
 * @param {Numbers} other
 * @param {Pick<Heads, "layers" | "heads" | "state">} heads
 */
export function pointsOf(one, other, heads) {
  const state = /** @type {FunctionState} */ (/** @type {unknown} */ (heads.state));
  const theirs = new Set(other.labels.items.map((item) => item.name));
  const shared = one.labels.items.filter((item) => theirs.has(item.name) && !item.beside); // relations alone are compared
  const wanted = state.relation ? shared.filter((item) => item.name === state.relation) : shared;
  if (!wanted.length) return null;
  const items = wanted.map((item) => item.name);
  const [across, up] = [one, other].map((each) => scoresOf(each, items, state));
  const [x, y, names] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([]), /** @type {string[]} */ ([])];
  for (let head = 0; head < countOf(heads); head++) {
    if (!(across[head] > 0 || up[head] > 0) || Number.isNaN(across[head] + up[head])) continue;
    x.push(across[head]);
    y.push(up[head]);
    names.push(nameOf(heads, [Math.floor(head / heads.heads), head % heads.heads]));
  }
  return { x, y, names, tone: state.relation ? wanted[0].category : "" };
}

/**
 * Of each head the highest score for some relations.
 * @param {Numbers} numbers
 * @param {string[]} names
 * @param {FunctionState} state
 * @returns {Float64Array}
 */
function scoresOf({ labels }, names, state) {
  const items = names.map((name) => labels.items.findIndex((item) => item.name === name));
  const chosen = { items, kinds: kindsOf(labels, state) };
  return decisionOf(labels, chosen, "any").value;
}
