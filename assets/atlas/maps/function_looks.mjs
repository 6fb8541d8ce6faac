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
  const marks = inScores ? marksOf({ ...panel, pale: null, suppresses: panel.falls }) : marksOf(panel);
  const { shades, codes } = inScores ? scoresOf(panel, palette) : categoriesOf(panel, state.tau, palette);
  const { value, reason } = panel;
  for (let head = 0; head < codes.length; head++) if (Number.isNaN(value[head])) codes[head] = reason[head];
  return { shades, codes, marks, empty: palette.empty, ground: "" };
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
  const { member, value } = panel;
  const codes = new Uint8Array(member.length);
  for (let head = 0; head < codes.length; head++) codes[head] = special + stepOf(value[head], member[head], tau);
  return { shades, codes };
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
  const codes = new Uint8Array(howMany.length);
  for (let head = 0; head < codes.length; head++) {
    const count = howMany[head];
    const category = count === 1 ? only(coloured, head) : strongestAt(single, head);
    const step = stepOf(single[category].value[head], coloured[category][head], tau);
    codes[head] = count > 1 ? special - 3 + Math.min(count - 2, 2) : special + category * (TINTS + 1) + step;
  }
  return codes;
}

/**
 * The one category that colours a head.
 * @param {Uint8Array[]} coloured
 * @param {number} head
 */
function only(coloured, head) {
  let category = 0;
  while (!coloured[category][head]) category++;
  return category;
}

/**
 * @param {Plain[]} single
 * @param {number} head
 */
function strongestAt(single, head) {
  let strongest = 0;
  let most = -Infinity;
  for (let i = 0; i < single.length; i++) {
    const value = single[i].value[head];
    const strength = Number.isNaN(value) ? -1 : value;
    if (strength > most) [strongest, most] = [i, strength];
  }
  return strongest;
}

/**
 * An outline for hollow cells, a lighter inside for pale ones, half a square for members that suppress.
 * @param {Pick<Plain, "member" | "hollow" | "pale" | "suppresses">} panel
 */
function marksOf({ member, hollow, pale, suppresses }) {
  const marks = new Uint8Array(member.length);
  for (let head = 0; head < marks.length; head++) {
    let flags = suppresses[head] ? HALF : 0;
    if (hollow && hollow[head]) flags |= HOLLOW;
    if (pale && pale[head]) flags |= PALE;
    marks[head] = flags;
  }
  return marks;
}
