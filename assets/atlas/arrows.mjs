// @ts-check
// The head that an arrow key leads to from another.

/** @typedef {[layer: number, head: number]} Cell by the place of the layer */
/** @typedef {{layers: ArrayLike<unknown>, heads: number, across: boolean, upward: boolean}} Orientation */

/** @type {Record<string, [right: number, down: number]>} */
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * Whether a key is an arrow.
 * @param {string} key
 */
export function isArrow(key) {
  return Object.hasOwn(STEPS, key);
}

/**
 * The next head, as the maps lie on the screen.
 * @param {Cell} cell
 * @param {string} key an arrow
 * @param {Orientation} heads
 * @returns {Cell}
 */
export function stepped([row, column], key, { layers, heads, across, upward }) {
  const [right, down] = STEPS[key];
  const later = upward ? -down : down; // rows are counted from the bottom or from the top
  const [rows, columns] = across ? [later, right] : [right, later];
  return [clamped(row + rows, layers.length), clamped(column + columns, heads)];
}

/**
 * @param {number} value
 * @param {number} count
 */
function clamped(value, count) {
  return Math.min(Math.max(value, 0), count - 1);
}
