// @ts-check
// The colours of the causal map's cells (dashboard/maps/causal/colours.py).
import { blend, once, toneOf } from "./palette.mjs";

/** @typedef {import("./palette.mjs").Palette} Palette */

/**
 * Both roles at once, each from 0 to 1: between the four corners.
 * @param {Palette} palette
 * @param {number} helps
 * @param {number} hurts
 */
export function light(palette, helps, hurts) {
  const corner = (/** @type {string} */ name) => toneOf(palette, `cell-${name}`);
  const without = blend(corner("neither"), corner("facilitation"), helps);
  return blend(without, blend(corner("interference"), corner("both"), helps), hurts);
}

/**
 * One score alone, from none to its role's colour.
 * @param {Palette} palette
 * @param {string} role
 * @param {number} score
 */
export function glow(palette, role, score) {
  return blend(toneOf(palette, "cell-neither"), toneOf(palette, `cell-${role}`), score);
}

/**
 * What is between the cells; empty: the page's own.
 * @param {Palette} palette
 */
export function groundOf(palette) {
  return toneOf(palette, "cell-ground");
}

/**
 * Every mixture of the two roles, facilitation first.
 * @param {Palette} palette
 * @param {number} levels
 */
export function mixtures(palette, levels) {
  return once(palette, `mixtures ${levels}`, () => mixed(palette, levels));
}

/**
 * @param {Palette} palette
 * @param {number} levels
 */
function mixed(palette, levels) {
  const shades = [];
  for (let helps = 0; helps < levels; helps++) {
    for (let hurts = 0; hurts < levels; hurts++) {
      shades.push(light(palette, helps / (levels - 1), hurts / (levels - 1)));
    }
  }
  return shades;
}
