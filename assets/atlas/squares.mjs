// @ts-check
// The squares of a map as pixels. A line of squares is written once and copied down, so that five maps of 80 × 64 heads take
// a few milliseconds; the few that are marked are written over.
import { halfway, inked } from "./colours.mjs";
import { cellOf } from "./geometry.mjs";

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
export const [HOLLOW, PALE, SUPPRESS] = [1, 2, 4];

const FROM_GAP = 5; // pixels of a cell's side: smaller ones stand without a gap
const WIDE_GAP = 24; // and from here on it has two

/**
 * Write the squares of a map.
 * @param {Canvas} canvas
 * @param {Look} look
 * @param {Grid} grid
 * @param {Sight} sight
 */
export function writeSquares(canvas, look, grid, sight) {
  const { pixels, width, height } = canvas;
  const ground = inked(look.ground);
  const shades = Uint32Array.from(look.shades, inked);
  const columns = edges(sight.left, sight.columns, width);
  const rows = edges(sight.top, sight.rows, height);
  const gap = gapOf(Math.min(width / sight.columns, height / sight.rows));
  const line = new Uint32Array(width);
  pixels.fill(ground);
  for (const { at: row, from: top, to: bottom } of rows) {
    line.fill(ground);
    for (const { at: column, from, to } of columns) {
      const cell = cellOf(column, row, grid);
      if (cell) line.fill(shades[look.codes[cell[0] * grid.heads + cell[1]]], from, Math.max(from + 1, to - gap));
    }
    for (let y = top; y < Math.max(top + 1, bottom - gap); y++) pixels.set(line, y * width);
  }
  if (look.marks) writeMarks(canvas, look, look.marks, grid, columns, rows, gap);
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
  for (const { at: row, from: y, to: bottom } of rows) {
    for (const { at: column, from: x, to: right } of columns) {
      const cell = cellOf(column, row, grid);
      const index = cell ? cell[0] * grid.heads + cell[1] : 0;
      if (!cell || !marks[index]) continue;
      const square = { x, y, width: right - x - gap, height: bottom - y - gap };
      writeMark(canvas, square, marks[index], look.shades[look.codes[index]], look.empty);
    }
  }
}

/**
 * A marked square: an outline or a lighter inside, of the whole square or of its lower left half.
 * @param {Canvas} canvas
 * @param {Square} square
 * @param {number} flags
 * @param {string} shade
 * @param {string} empty
 */
function writeMark({ pixels, width }, square, flags, shade, empty) {
  const outline = Math.min(Math.max(Math.round(square.width / 8), 1), 4);
  const [around, inside, rest] = [shade, insideOf(flags, shade, empty), empty].map(inked);
  for (let down = 0; down < square.height; down++) {
    const start = (square.y + down) * width + square.x;
    const long = flags & SUPPRESS ? Math.ceil((square.width * (down + 1)) / square.height) : square.width;
    pixels.fill(around, start, start + long);
    pixels.fill(rest, start + long, start + square.width);
    const isEdge = down >= square.height - outline || (!(flags & SUPPRESS) && down < outline);
    const end = long - (flags & SUPPRESS ? 2 * outline : outline);
    if (!isEdge && end > outline) pixels.fill(inside, start + outline, start + end);
  }
}

/**
 * @param {number} flags
 * @param {string} shade
 * @param {string} empty
 */
function insideOf(flags, shade, empty) {
  if (flags & HOLLOW) return empty;
  return flags & PALE ? halfway(shade, empty) : shade;
}
