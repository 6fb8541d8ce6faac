// @ts-check
// The zoom: which layers and heads all maps of the page show. Squares stay square, so a map shows at least these.
import { cellOf, sizeOf, spotOf, wholeOf } from "./geometry.mjs";

/** @typedef {import("./geometry.mjs").Grid} Grid */
/** @typedef {import("./geometry.mjs").Sight} Sight */
/** @typedef {import("./heads.mjs").Cell} Cell */
/** @typedef {{layers: [from: number, to: number], heads: [from: number, to: number]}} Zoom indices, both ends included */

/** @type {{zoom: Zoom | null, listeners: ((zoom: Zoom | null) => void)[]}} */
const kept = { zoom: null, listeners: [] };

/** The zoom of the page; null when all heads are in sight. */
export function zoomed() {
  return kept.zoom;
}

/**
 * Zoom all maps, or show all heads again; those who listen draw, and write the address.
 * @param {Zoom | null} zoom
 */
export function setZoom(zoom) {
  kept.zoom = zoom;
  for (const listener of kept.listeners) listener(zoom);
}

/**
 * Be told when the zoom changes.
 * @param {(zoom: Zoom | null) => void} listener
 */
export function onZoom(listener) {
  kept.listeners.push(listener);
}

/**
 * Forget the zoom without telling: another model is drawn anyway.
 */
export function forgetZoom() {
  kept.zoom = null;
}

/**
 * The zoom between two heads, whichever comes first.
 * @param {Cell} one
 * @param {Cell} other
 * @returns {Zoom}
 */
export function between(one, other) {
  const [layers, heads] = [0, 1].map((i) => [one[i], other[i]].sort((a, b) => a - b));
  return { layers: [layers[0], layers[1]], heads: [heads[0], heads[1]] };
}

/**
 * The part of every map that a zoom shows: as wide and as high as a whole map is, in proportion, so that squares stay square.
 * @param {Zoom | null} zoom
 * @param {Grid} grid
 * @returns {Sight}
 */
export function sightOf(zoom, grid) {
  if (!zoom) return wholeOf(grid);
  const [columns, rows] = sizeOf(grid);
  const corners = [spotOf([zoom.layers[0], zoom.heads[0]], grid), spotOf([zoom.layers[1], zoom.heads[1]], grid)];
  const [left, right] = [corners[0][0], corners[1][0]].sort((a, b) => a - b);
  const [top, bottom] = [corners[0][1], corners[1][1]].sort((a, b) => a - b);
  const share = Math.min(1, Math.max((right - left + 1) / columns, (bottom - top + 1) / rows));
  const [wide, high] = [share * columns, share * rows];
  return {
    left: within((left + right + 1 - wide) / 2, columns - wide),
    top: within((top + bottom + 1 - high) / 2, rows - high),
    columns: wide,
    rows: high,
  };
}

/**
 * @param {number} start
 * @param {number} last
 */
function within(start, last) {
  return Math.min(Math.max(0, start), last);
}

/**
 * How many heads are in sight: those whose middle is.
 * @param {Sight} sight
 */
export function countIn({ left, top, columns, rows }) {
  return middles(left, columns) * middles(top, rows);
}

/**
 * Whether a head is one of them.
 * @param {Sight} sight
 * @param {Cell} cell
 * @param {Grid} grid
 */
export function isIn({ left, top, columns, rows }, cell, grid) {
  const [column, row] = spotOf(cell, grid);
  const [across, down] = [column + 0.5 - left, row + 0.5 - top];
  return across >= 0 && across < columns && down >= 0 && down < rows;
}

/**
 * @param {number} start
 * @param {number} length
 */
function middles(start, length) {
  return Math.ceil(start + length - 0.5) - Math.ceil(start - 0.5);
}

/**
 * The zoom between two columns and rows of a map, kept on the map; null for less than two heads, and for all of them.
 * @param {[column: number, row: number]} one
 * @param {[column: number, row: number]} other
 * @param {Grid} grid
 * @returns {Zoom | null}
 */
export function zoomBetween(one, other, grid) {
  const [columns, rows] = sizeOf(grid);
  const [first, second] = [one, other].map(([column, row]) =>
    cellOf(within(column, columns - 1), within(row, rows - 1), grid),
  );
  if (!first || !second || first.join() === second.join()) return null;
  const zoom = between(first, second);
  return sightOf(zoom, grid).columns < columns ? zoom : null;
}

/**
 * A zoom as an address writes it, such as `L10-30.H5-20`, with the layers' own numbers.
 * @param {Zoom} zoom
 * @param {readonly number[]} layers
 */
export function zoomText({ layers: [from, to], heads }, layers) {
  return `L${layers[from]}-${layers[to]}.H${heads.join("-")}`;
}

/**
 * The zoom that an address writes, or null when the model has no such layers and heads.
 * @param {string} text
 * @param {Pick<Grid, "heads"> & {layers: readonly number[]}} grid
 * @returns {Zoom | null}
 */
export function readZoom(text, { layers, heads }) {
  const match = /^L(\d{1,4})-(\d{1,4})\.H(\d{1,4})-(\d{1,4})$/.exec(text);
  if (!match) return null;
  const [from, to, first, last] = match.slice(1).map(Number);
  const firstRow = layers.indexOf(from);
  const lastRow = layers.indexOf(to);
  if (firstRow < 0 || lastRow < firstRow || last < first || last >= heads) return null;
  return { layers: [firstRow, lastRow], heads: [first, last] };
}
