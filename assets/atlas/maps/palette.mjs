// @ts-check
// The scales of all maps, made of a palette's colours, which the server hands over (dashboard/palette.py).

/**
 * @typedef {object} Palette the colours of a palette in one theme
 * @property {string[]} ends of a scale with a middle: below 0 and above it
 * @property {string} empty
 * @property {string[]} missing by reason
 * @property {string} ink
 * @property {string} faint
 * @property {string} accent
 * @property {string} stronger
 * @property {Record<string, string>} tones the colours that maps call by name
 */

export const LEVELS = 64; // of a continuous scale

/**
 * @param {string} colour
 * @returns {number[]}
 */
function channels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/**
 * A colour between two, `share` of the way to the second.
 * @param {string} base
 * @param {string} top
 * @param {number} share
 */
export function blend(base, top, share) {
  const to = channels(top);
  const mixed = channels(base).map((from, i) => Math.floor(from + (to[i] - from) * share + 0.5));
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

/**
 * A tone's colour; one that nobody brought is other, and what has no tone has the accent.
 * @param {Palette} palette
 * @param {string} tone
 */
export function toneOf({ tones, accent }, tone) {
  if (!tone) return accent;
  return tones[tone] ?? tones.other;
}

/**
 * The colours of so many levels between two.
 * @param {string} lowest
 * @param {string} highest
 * @param {number} levels
 */
export function scale(lowest, highest, levels = LEVELS) {
  return Array.from({ length: levels }, (_, i) => blend(lowest, highest, i / (levels - 1)));
}

/**
 * On a scale with a middle, from -1 over 0 (empty) to 1.
 * @param {Palette} palette
 * @param {number} share
 */
export function slope({ empty, ends }, share) {
  return blend(empty, ends[share > 0 ? 1 : 0], Math.abs(share));
}

/** @type {WeakMap<Palette, Map<string, string[]>>} */
const made = new WeakMap();

/**
 * Shades that are made once for each palette: mixing some hundred colours takes as long as all the rest.
 * @param {Palette} palette
 * @param {string} name
 * @param {() => string[]} make
 */
export function once(palette, name, make) {
  const shades = made.get(palette) || new Map();
  made.set(palette, shades);
  if (!shades.has(name)) shades.set(name, make());
  return shades.get(name) || [];
}

/**
 * The colours of a scale with a middle, from its lower end to its upper one.
 * @param {Palette} palette
 * @param {number} levels
 */
export function slopes(palette, levels) {
  const half = (levels - 1) / 2;
  const make = () => Array.from({ length: levels }, (_, i) => slope(palette, (i - half) / half));
  return once(palette, `slopes ${levels}`, make);
}

/**
 * The nearest of so many levels, for a share from 0 to 1.
 * @param {number} share
 * @param {number} levels
 */
export function level(share, levels) {
  return Math.min(Math.max(Math.floor(share * (levels - 1) + 0.5), 0), levels - 1);
}
