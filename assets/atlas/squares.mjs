// @ts-check
// The squares of a map as pixels. A line of squares is written once and copied down, so that five maps of 80 × 64 heads take
// a few milliseconds; the few that are marked are written over.
import { halfway, inked } from "./colours.mjs";

/** @typedef {import("./geometry.mjs").Grid} Grid */
/** @typedef {import("./geometry.mjs").Sight} Sight */

/**
 * @typedef {object} Look how the cells of a panel are coloured; arrays run over layers, then heads
 * @property {string[]} shades by code
 * @property {Uint8Array} codes
 * @property {Uint8Array | null} marks flags of every cell
 * @property {string} empty what is left out of a marked cell
 * @property {string} ground the colour between the cells; empty: the page's own
 */

/** @typedef {{x: number, y: number, width: number, height: number}} Square pixels */
/** @typedef {{pixels: Uint32Array, width: number, height: number}} Canvas */

/** Flags of a mark: outline only; lighter inside; the lower left half of the square (dashboard/maps/look.py). */
export const [HOLLOW, PALE, HALF] = [1, 2, 4];

const FADED = 0x2b; // how much of a faded cell is seen, of 255
const FROM_GAP = 5; // pixels of a cell's side: smaller ones stand without a gap
const WIDE_GAP = 24; // and from here on it has two

/**
 * Write the squares of a map.
 * @param {Canvas} canvas
 * @param {Look} look
 * @param {Grid} grid
 * @param {Sight} sight
 * @param {Uint8Array | null} [left] 0 for heads that are faded
 */
export function writeSquares(canvas, look, grid, sight, left = null) {
  const { pixels, width, height } = canvas;
  const ground = inked(look.ground);
  const shades = inkOf(look.shades);
  const columns = edges(sight.left, sight.columns, width);
  const rows = edges(sight.top, sight.rows, height);
  const gap = gapOf(Math.min(width / sight.columns, height / sight.rows));
  const across = columnsAt(columns, width, gap);
  const line = new Uint32Array(width).fill(ground);
  pixels.fill(ground);
  for (const { at: row, from: top, to: bottom } of rows) {
    const [first, step] = indicesOf(row, grid);
    for (let x = 0; x < width; x++) if (across[x] >= 0) line[x] = shades[look.codes[first + step * across[x]]];
    for (let y = top; y < Math.max(top + 1, bottom - gap); y++) pixels.set(line, y * width);
  }
  if (look.marks) writeMarks(canvas, look, look.marks, grid, columns, rows, gap);
  if (left) fade(canvas, left, grid, columns, rows);
}

/** @type {WeakMap<readonly string[], Uint32Array>} */
const inks = new WeakMap(); // of lists of shades that several panels share

/**
 * Shades as pixels, made once for each list.
 * @param {readonly string[]} shades
 */
function inkOf(shades) {
  const made = inks.get(shades) || Uint32Array.from(shades, inked);
  inks.set(shades, made);
  return made;
}

/**
 * Let the page shine through the squares of some heads.
 * @param {Canvas} canvas
 * @param {Uint8Array} left
 * @param {Grid} grid
 * @param {ReturnType<typeof edges>} columns
 * @param {ReturnType<typeof edges>} rows
 */
function fade({ pixels, width }, left, grid, columns, rows) {
  for (const { at: row, from: top, to: bottom } of rows) {
    const [first, step] = indicesOf(row, grid);
    for (const { at: column, from, to } of columns) {
      if (left[first + step * column]) continue;
      for (let y = top; y < bottom; y++) {
        for (let x = y * width + from; x < y * width + to; x++) {
          if (pixels[x]) pixels[x] = ((pixels[x] & 0xffffff) | (FADED << 24)) >>> 0;
        }
      }
    }
  }
}

/**
 * Where the heads of a row are in the arrays: the first, and from one to the next.
 * @param {number} row
 * @param {Grid} grid
 * @returns {[first: number, step: number]}
 */
function indicesOf(row, { layers, heads, across, upward }) {
  const counted = upward ? (across ? layers.length : heads) - 1 - row : row;
  return across ? [counted * heads, 1] : [counted, heads];
}

/**
 * Where the cells of an axis begin and end, on whole pixels.
 * @param {number} start cells before the first pixel
 * @param {number} length cells
 * @param {number} size pixels
 */
function edges(start, length, size) {
  const cells = [];
  for (let at = Math.floor(start); at < start + length; at++) {
    const [from, to] = [at, at + 1].map((edge) => Math.round(((edge - start) / length) * size));
    if (to > 0 && from < size) cells.push({ at, from: Math.max(0, from), to: Math.min(size, to) });
  }
  return cells;
}

/**
 * The column at every pixel of a line, -1 between the cells.
 * @param {ReturnType<typeof edges>} columns
 * @param {number} width
 * @param {number} gap
 */
function columnsAt(columns, width, gap) {
  const places = new Int32Array(width).fill(-1);
  for (const { at, from, to } of columns) places.fill(at, from, Math.max(from + 1, to - gap));
  return places;
}

/**
 * Pixels between cells of a size.
 * @param {number} cell
 */
function gapOf(cell) {
  if (cell < FROM_GAP) return 0;
  return cell < WIDE_GAP ? 1 : 2;
}

/**
 * @param {Canvas} canvas
 * @param {Look} look
 * @param {Uint8Array} marks
 * @param {Grid} grid
 * @param {ReturnType<typeof edges>} columns
 * @param {ReturnType<typeof edges>} rows
 * @param {number} gap
 */
function writeMarks(canvas, look, marks, grid, columns, rows, gap) {
  const shades = inkOf(look.shades);
  /** @type {number[]} */
  const lighter = []; // by code, of the few that are needed
  const empty = inked(look.empty);
  for (const { at: row, from: y, to: bottom } of rows) {
    const [first, step] = indicesOf(row, grid);
    for (const { at: column, from: x, to: right } of columns) {
      const index = first + step * column;
      const flags = marks[index];
      if (!flags) continue;
      const code = look.codes[index];
      if (flags & PALE) lighter[code] ??= inked(halfway(look.shades[code], look.empty));
      const inside = flags & HOLLOW ? empty : flags & PALE ? lighter[code] : shades[code];
      const square = { x, y, width: right - x - gap, height: bottom - y - gap };
      if (flags & HALF) writeHalf(canvas, square, shades[code], inside, empty);
      else writeInside(canvas, square, inside);
    }
  }
}

/**
 * Pixels of an outline around a square.
 * @param {Square} square
 */
function outlineOf({ width }) {
  return Math.min(Math.max(Math.round(width / 8), 1), 4);
}

/**
 * Another colour inside a square, of which an outline remains.
 * @param {Canvas} canvas
 * @param {Square} square
 * @param {number} inside
 */
function writeInside({ pixels, width }, square, inside) {
  const outline = outlineOf(square);
  const [left, right] = [square.x + outline, square.x + square.width - outline];
  for (let y = square.y + outline; y < square.y + square.height - outline; y++) {
    for (let x = left; x < right; x++) pixels[y * width + x] = inside;
  }
}

/**
 * Only the lower left half of a square, with another colour inside if it has one.
 * @param {Canvas} canvas
 * @param {Square} square
 * @param {number} shade
 * @param {number} inside
 * @param {number} empty
 */
function writeHalf({ pixels, width }, square, shade, inside, empty) {
  const outline = outlineOf(square);
  for (let down = 0; down < square.height; down++) {
    const start = (square.y + down) * width + square.x;
    const long = Math.ceil((square.width * (down + 1)) / square.height);
    for (let x = start + long; x < start + square.width; x++) pixels[x] = empty;
    if (inside === shade || down >= square.height - outline) continue;
    for (let x = start + outline; x < start + long - 2 * outline; x++) pixels[x] = inside;
  }
}
