// @ts-check
// The colours of the function map (dashboard/maps/function/colours.py).
import { blend, toneOf } from "./palette.mjs";

/** @typedef {import("./palette.mjs").Palette} Palette */

export const SEVERAL = ["2 categories", "3 categories", "4 or more categories"];
export const SEVERAL_TONES = ["several-2", "several-3", "several-4"];
export const TINTS = 8; // steps of a category's tint below τ

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
