// @ts-check
// The colours of the function map: a code for every cell, a colour for every code (dashboard/maps/function/colours.py).
import { HOLLOW, PALE, HALF } from "../squares.mjs";
import { SEVERAL_TONES, tint, TINTS } from "./function_colours.mjs";
import { level, LEVELS, once, scale, toneOf } from "./palette.mjs";

/** @typedef {import("../squares.mjs").Look} Look */
/** @typedef {import("./function_labels.mjs").FunctionState} FunctionState */
/** @typedef {import("./function_panels.mjs").Plain} Plain */
/** @typedef {import("./function_panels.mjs").Whole} Whole */
/** @typedef {import("./palette.mjs").Palette} Palette */

/**
 * Categories above τ and tints below it, or the scores themselves.
 * @param {Plain | Whole} panel
 * @param {FunctionState} state
 * @param {Palette} palette
 * @returns {Look}
 */
export function lookOf(panel, state, palette) {
  const inScores = state.colour === "scores";
  const marks = marksOf(panel, inScores ? HALF : HOLLOW | PALE | HALF);
  const coded = inScores ? scoresOf(panel, palette) : categoriesOf(panel, state.tau, palette);
  const codes = coded.codes.map((code, head) => (Number.isNaN(panel.value[head]) ? panel.reason[head] : code));
  return { shades: coded.shades, codes, marks, empty: palette.empty, ground: "" };
}

/**
 * @param {Plain} panel
 * @param {Palette} palette
 */
function scoresOf({ value, tone }, palette) {
  const first = palette.missing.length;
  const shades = [...palette.missing, ...once(palette, `scale ${tone}`, () => scale(palette.empty, toneOf(palette, tone)))];
  const codes = new Uint8Array(value.length);
  for (let head = 0; head < codes.length; head++) codes[head] = first + level(value[head] || 0, LEVELS);
  return { shades, codes };
}

/**
 * @param {Plain | Whole} panel
 * @param {number} tau
 * @param {Palette} palette
 */
function categoriesOf(panel, tau, palette) {
  const shades = [...palette.missing, ...SEVERAL_TONES.map((tone) => toneOf(palette, tone))];
  for (const tone of "single" in panel ? panel.single.map((one) => one.tone) : [panel.tone]) {
    shades.push(...once(palette, `tints ${tone}`, () => tintsOf(palette, tone)), toneOf(palette, tone));
  }
  const special = palette.missing.length + SEVERAL_TONES.length;
  if ("single" in panel) return { shades, codes: severalCodes(panel, tau, special) };
  return { shades, codes: panel.member.map((is, head) => special + stepOf(panel.value[head], is, tau)) };
}

/**
 * @param {Palette} palette
 * @param {string} tone
 */
function tintsOf(palette, tone) {
  return Array.from({ length: TINTS }, (_, step) => tint(palette, tone, step));
}

/**
 * No tint for 0, tints up to τ, the full colour for members.
 * @param {number} value
 * @param {number} isMember
 * @param {number} tau
 */
function stepOf(value, isMember, tau) {
  if (isMember) return TINTS;
  const share = tau > 0 ? (value || 0) / tau : value || 0;
  return share > 0 ? Math.min(Math.max(Math.ceil(share * (TINTS - 1)), 1), TINTS - 1) : 0;
}

/**
 * The only category's colour, a colour for several, else the strongest one's tint.
 * @param {Whole} panel
 * @param {number} tau
 * @param {number} special
 */
function severalCodes({ single, coloured, howMany }, tau, special) {
  return howMany.map((count, head) => {
    if (count > 1) return special - 3 + Math.min(count - 2, 2);
    const category = count === 1 ? coloured.findIndex((flags) => flags[head]) : strongestAt(single, head);
    const step = stepOf(single[category].value[head], coloured[category][head], tau);
    return special + category * (TINTS + 1) + step;
  });
}

/**
 * @param {Plain[]} single
 * @param {number} head
 */
function strongestAt(single, head) {
  let strongest = 0;
  let most = -Infinity;
  for (const [i, { value }] of single.entries()) {
    const strength = Number.isNaN(value[head]) ? -1 : value[head];
    if (strength > most) [strongest, most] = [i, strength];
  }
  return strongest;
}

/**
 * @param {Plain} panel
 * @param {number} wanted flags
 */
function marksOf({ member, hollow, pale, suppresses }, wanted) {
  return member.map((_, head) => {
    const flags = (hollow?.[head] ? HOLLOW : 0) | (pale?.[head] ? PALE : 0) | (suppresses[head] ? HALF : 0);
    return flags & wanted;
  });
}
