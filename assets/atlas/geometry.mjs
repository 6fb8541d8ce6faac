// @ts-check
// Where a head is on the screen, and which head is at a point of it. Pixels count from the sheet's corner, cells from the
// top left corner of a map.

/** @typedef {import("./heads.mjs").Cell} Cell */
/** @typedef {import("./arrange.mjs").Box} Box */
/** @typedef {{layers: readonly unknown[], heads: number, across: boolean, upward: boolean}} Grid how heads lie on a map */
/** @typedef {{left: number, top: number, columns: number, rows: number}} Sight the part of a map in sight, in cells */

/**
 * Cells across and down.
 * @param {Grid} grid
 * @returns {[columns: number, rows: number]}
 */
export function sizeOf({ layers, heads, across }) {
  return across ? [heads, layers.length] : [layers.length, heads];
}

/**
 * All of a map.
 * @param {Grid} grid
 * @returns {Sight}
 */
export function wholeOf(grid) {
  const [columns, rows] = sizeOf(grid);
  return { left: 0, top: 0, columns, rows };
}

/**
 * The column and row of a head on a map.
 * @param {Cell} cell
 * @param {Grid} grid
 * @returns {[column: number, row: number]}
 */
export function spotOf([layer, head], grid) {
  const [column, row] = grid.across ? [head, layer] : [layer, head];
  return [column, grid.upward ? sizeOf(grid)[1] - 1 - row : row];
}

/**
 * The head in a column and row of a map, or null beyond the last.
 * @param {number} column
 * @param {number} row
 * @param {Grid} grid
 * @returns {Cell | null}
 */
export function cellOf(column, row, grid) {
  const [columns, rows] = sizeOf(grid);
  if (column < 0 || row < 0 || column >= columns || row >= rows) return null;
  const counted = grid.upward ? rows - 1 - row : row;
  return grid.across ? [counted, column] : [column, counted];
}

/**
 * The square of a head on a map, or null when it is out of sight.
 * @param {Box} box the map's
 * @param {Sight} sight
 * @param {Cell} cell
 * @param {Grid} grid
 * @returns {Box | null}
 */
export function boxOf(box, sight, cell, grid) {
  const [column, row] = spotOf(cell, grid);
  const [width, height] = [box.width / sight.columns, box.height / sight.rows];
  const [left, top] = [(column - sight.left) * width, (row - sight.top) * height];
  const middle = [left + width / 2, top + height / 2];
  if (middle[0] <= 0 || middle[0] >= box.width || middle[1] <= 0 || middle[1] >= box.height) return null;
  return { left: box.left + left, top: box.top + top, width, height };
}

/**
 * The map at a point, or -1.
 * @param {Box[]} boxes
 * @param {number} left
 * @param {number} top
 */
export function mapAt(boxes, left, top) {
  return boxes.findIndex(
    (box) => left >= box.left && top >= box.top && left < box.left + box.width && top < box.top + box.height,
  );
}

/**
 * The column and row at a point of a map, also one beyond its edges.
 * @param {Box} box
 * @param {Sight} sight
 * @param {number} left
 * @param {number} top
 * @returns {[column: number, row: number]}
 */
export function spotAt(box, sight, left, top) {
  const column = sight.left + ((left - box.left) / box.width) * sight.columns;
  const row = sight.top + ((top - box.top) / box.height) * sight.rows;
  return [Math.floor(column), Math.floor(row)];
}

/**
 * The map at a point and the head there, or null when there is none.
 * @param {Box[]} boxes
 * @param {Sight} sight
 * @param {number} left
 * @param {number} top
 * @param {Grid} grid
 * @returns {{cell: Cell, map: number} | null}
 */
export function headAt(boxes, sight, left, top, grid) {
  const map = mapAt(boxes, left, top);
  if (map < 0) return null;
  const cell = cellOf(...spotAt(boxes[map], sight, left, top), grid);
  return cell && { cell, map };
}

/**
 * Where a tooltip goes: beside the point, on the side that has room, inside the window.
 * @param {{x: number, y: number}} point
 * @param {{width: number, height: number}} size
 * @param {{width: number, height: number}} window
 * @returns {[left: number, top: number]}
 */
export function beside({ x, y }, { width, height }, window) {
  const left = x + 18 + width > window.width ? x - width - 14 : x + 18;
  const top = Math.min(Math.max(8, y - height / 2), window.height - height - 8);
  return [Math.max(4, left), top];
}
