// @ts-check
// Colours as a canvas keeps them: one number for each, red in its lowest byte.

/**
 * The red, green and blue of a colour such as #0072b2.
 * @param {string} colour
 * @returns {number[]}
 */
export function channels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/** @type {Map<string, number>} */
const asNumbers = new Map(); // colours as numbers: a map asks for the same few thousands of times

/**
 * A colour as a number; 0, which nothing of is seen, for none.
 * @param {string} colour
 */
export function inked(colour) {
  const before = asNumbers.get(colour);
  if (before !== undefined) return before;
  const [red, green, blue] = colour ? channels(colour) : [0, 0, 0];
  const number = colour ? (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0 : 0;
  asNumbers.set(colour, number);
  return number;
}

/**
 * A colour half-way between two.
 * @param {string} one
 * @param {string} other
 */
export function halfway(one, other) {
  const others = channels(other);
  const mixed = channels(one).map((channel, i) => Math.round((channel + others[i]) / 2));
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}
