// @ts-check
// Where a head is on the screen, and which head is at a point of it. Pixels count from the graph's corner.

/** @typedef {import("./heads.mjs").Cell} Cell */

/**
 * @typedef {object} Axis an axis as plotly has laid it out
 * @property {number} _offset pixels before it
 * @property {number} _length its pixels
 * @property {(value: number) => number} l2p from its numbers to pixels
 * @property {(pixel: number) => number} p2l and back
 * @property {number[]} range
 */

/** @typedef {[x: Axis, y: Axis]} Axes the two axes of one map */
/** @typedef {{left: number, top: number, width: number, height: number}} Box */
/** @typedef {{layers: readonly unknown[], heads: number, across: boolean}} Grid how heads lie on a map */

/**
 * The position of a head on the axes.
 * @param {Cell} cell
 * @param {boolean} across
 * @returns {[x: number, y: number]}
 */
export function pointOf([row, column], across) {
  return across ? [column, row] : [row, column];
}

/**
 * The head at a position on the axes, or null beyond the last.
 * @param {number} x
 * @param {number} y
 * @param {Grid} grid
 * @returns {Cell | null}
 */
export function cellOf(x, y, { layers, heads, across }) {
  const [row, column] = across ? [y, x] : [x, y];
  const isInside = row >= 0 && row < layers.length && column >= 0 && column < heads;
  return isInside ? [row, column] : null;
}

/**
 * The square of a head on a map, or null when it was zoomed out of sight.
 * @param {Axes} axes
 * @param {Cell} cell
 * @param {boolean} across
 * @returns {Box | null}
 */
export function boxOf([xAxis, yAxis], cell, across) {
  const [x, y] = pointOf(cell, across);
  const [left, right] = [xAxis.l2p(x - 0.5), xAxis.l2p(x + 0.5)];
  const ends = [yAxis.l2p(y - 0.5), yAxis.l2p(y + 0.5)]; // rows go up or down
  const [top, bottom] = [Math.min(...ends), Math.max(...ends)];
  if (right <= 0 || left >= xAxis._length || bottom <= 0 || top >= yAxis._length) return null;
  return { left: xAxis._offset + left, top: yAxis._offset + top, width: right - left, height: bottom - top };
}

/**
 * The map at a point and the head there, or null when there is none.
 * @param {Axes[]} maps
 * @param {number} left
 * @param {number} top
 * @param {Grid} grid
 * @returns {{cell: Cell, map: number} | null}
 */
export function headAt(maps, left, top, grid) {
  for (const [map, [xAxis, yAxis]] of maps.entries()) {
    const [x, y] = [left - xAxis._offset, top - yAxis._offset];
    if (x < 0 || y < 0 || x >= xAxis._length || y >= yAxis._length) continue;
    const cell = cellOf(Math.round(xAxis.p2l(x)), Math.round(yAxis.p2l(y)), grid);
    return cell && { cell, map };
  }
  return null;
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
