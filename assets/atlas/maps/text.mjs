// @ts-check
// Numbers as words, exactly as the server writes them.

/** @typedef {string | {b: string} | {code: string}} Said text, or a piece that stands out (dashboard/maps/sentences.py) */

/**
 * A number without needless digits.
 * @param {number} value
 */
export function number(value) {
  return String(Number(value.toPrecision(6)));
}

/**
 * A share as it stands after a panel's title.
 * @param {number} share
 */
export function percent(share) {
  if (share >= 0.1 || share === 0) return `${Math.floor(100 * share + 0.5)} %`;
  return `${(Math.floor(1000 * share + 0.5) / 10).toFixed(1)} %`;
}

/**
 * How many heads, in words.
 * @param {number} count
 */
export function headsIn(count) {
  return `${count} ${count === 1 ? "head" : "heads"}`;
}
