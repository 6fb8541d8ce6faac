// @ts-check
// Colours made of a palette's own, which the server hands over (dashboard/palette.py).

/**
 * @typedef {object} Palette the colours of a palette in one theme
 * @property {Record<string, string>} category
 * @property {string[]} several 2, 3, 4 and more categories
 * @property {string} empty
 * @property {string[]} missing by reason
 * @property {string} ink
 * @property {string} faint
 * @property {string} accent
 * @property {[neither: string, helps: string, hurts: string, both: string]} corners of the causal map
 * @property {string} idle
 * @property {string} ground
 * @property {string[]} inks facilitation, interference
 * @property {string} stronger
 */

export const SEVERAL = ["2 categories", "3 categories", "4 or more categories"];
export const TINTS = 8; // steps of a category's tint below τ
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
 * The colour of a category, a role or several categories; what is not known is other, and what is of none has the accent.
 * @param {Palette} palette
 * @param {string} tone
 */
export function toneOf(palette, tone) {
  if (!tone) return palette.accent;
  const several = palette.several[SEVERAL.indexOf(tone)];
  /** @type {Record<string, string>} */
  const roles = { facilitation: palette.inks[0], interference: palette.inks[1], irrelevance: palette.faint };
  return several || roles[tone] || palette.category[tone] || palette.category.other;
}

/**
 * A faint version of a category's colour: none at step 0, then stronger.
 * @param {Palette} palette
 * @param {string} tone
 * @param {number} step
 */
export function tint(palette, tone, step) {
  const share = step ? 0.06 + (0.44 * (step - 1)) / (TINTS - 2) : 0;
  return blend(palette.empty, toneOf(palette, tone), share);
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
 * Both roles at once, each from 0 to 1: between the four corners.
 * @param {Palette} palette
 * @param {number} helps
 * @param {number} hurts
 */
export function light({ corners }, helps, hurts) {
  return blend(blend(corners[0], corners[1], helps), blend(corners[2], corners[3], helps), hurts);
}

/**
 * One score alone, from none to its role's colour.
 * @param {Palette} palette
 * @param {string} role
 * @param {number} score
 */
export function glow({ corners, idle }, role, score) {
  /** @type {Record<string, string>} */
  const tones = { facilitation: corners[1], interference: corners[2] };
  return blend(corners[0], tones[role] || idle, score);
}

/**
 * A gradient from -1 (facilitating) over 0 (empty) to 1 (interfering).
 * @param {Palette} palette
 * @param {number} share
 */
export function slope({ empty, inks }, share) {
  return blend(empty, inks[share > 0 ? 1 : 0], Math.abs(share));
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
  const known = made.get(palette) || new Map();
  made.set(palette, known);
  if (!known.has(name)) known.set(name, make());
  return known.get(name) || [];
}

/**
 * The colours of gradients or changes, from facilitating over none to interfering.
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
