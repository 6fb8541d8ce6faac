// @ts-check
// The rules of a plain map, one number for every head and panel: from its numbers and the state to all that follows the
// controls (dashboard/maps/plain.py).
export { decorate } from "./plain_card.mjs";
import { level, LEVELS, once, scale, slopes, toneOf } from "./palette.mjs";
import { missingEntries } from "./panels.mjs";
import { flagsOf, NO_SLOPE, NO_STEP, SLOPES, STEPS, thresholdStep } from "./steps.mjs";
import { headsIn, number } from "./text.mjs";

/** @typedef {import("../heads.mjs").Label} Label */
/** @typedef {import("../heads.mjs").Measure} Measure */
/** @typedef {import("../heads.mjs").Panel} Panel */
/** @typedef {import("../legend.mjs").Entry} Entry */
/** @typedef {import("../squares.mjs").Look} Look */
/** @typedef {import("./index.mjs").View} View */
/** @typedef {import("./palette.mjs").Palette} Palette */
/** @typedef {import("./unpacking.mjs").Answer} Answer */
/** @typedef {import("./unpacking.mjs").Facts} Facts */

/**
 * @typedef {object} Plain a panel with its part of the arrays
 * @property {string} key
 * @property {string} title
 * @property {string} variant the value of the choosing setting under which it is shown; empty: always
 * @property {string} called what a head is called that belongs
 * @property {string} number what the tooltip calls the number
 * @property {number} digits
 * @property {boolean} ranked
 * @property {string} remark after the title, instead of how many belong
 * @property {string} tone
 * @property {number} steepest where a signed scale ends
 * @property {any} steps
 * @property {Uint8Array} reason
 * @property {Uint8Array | null} member null: those whose step reaches the threshold
 */

/** @typedef {{facts: Facts, panels: Plain[]}} Numbers */

const FINE = 65; // levels of a scale with a middle
const BAR = 9; // colours of the legend's bar

/**
 * The numbers of an answer, ready for the rules.
 * @param {Answer} answer
 * @returns {Numbers}
 */
export function prepared({ facts, arrays }) {
  const size = facts.layers.length * facts.heads;
  const part = (/** @type {any} */ array, /** @type {number} */ i) => array.subarray(i * size, (i + 1) * size);
  const panels = facts.panels.map((/** @type {any} */ { counted, ...told }, /** @type {number} */ i) => ({
    ...told,
    steps: part(arrays.steps, i),
    reason: part(arrays.reasons, i),
    member: counted === null ? null : part(arrays.members, counted),
  }));
  return { facts, panels };
}

/**
 * All that follows the controls.
 * @param {Numbers} numbers
 * @param {Record<string, any>} state
 * @param {Palette} palette
 * @returns {View}
 */
export function viewOf({ facts, panels: all }, state, palette) {
  const shown = all.filter(({ variant }) => !variant || variant === state[facts.chooses]);
  const least = facts.threshold ? thresholdStep(state[facts.threshold]) : Infinity;
  const members = shown.map((panel) => panel.member || flagsOf(panel.steps, least));
  const label = labelOf(shown, members, facts.otherwise);
  const reached = facts.threshold ? ` ≥ ${number(state[facts.threshold])}` : "";
  const panels = shown.map((panel, i) => panelOf(facts, panel, members[i], reached, label, palette));
  const isEmpty = panels.every(({ reason }) => reason && reason.every(Boolean));
  const legend = isEmpty ? [] : legendOf(facts, all, palette);
  return {
    panels,
    sentence: facts.sentence,
    legend: [...legend, ...missingEntries(panels, facts, palette)],
    topic: "",
    idle: {},
    counts: null,
    shares: [],
    profile: null,
    best: null,
  };
}

/**
 * @param {Facts} facts
 * @param {Plain} panel
 * @param {Uint8Array} member
 * @param {string} least what those reach that are counted
 * @param {Label | null} label
 * @param {Palette} palette
 * @returns {Panel}
 */
function panelOf(facts, panel, member, least, label, palette) {
  return {
    key: panel.key,
    title: panel.title,
    note: panel.remark || headsIn(member.reduce((count, flag) => count + flag, 0)) + (panel.member ? "" : least),
    row: "",
    column: "",
    reason: panel.reason.some(Boolean) ? panel.reason : null,
    label,
    measures: [measureOf(facts, panel)],
    look: lookOf(facts, panel, palette),
    profile: null,
  };
}

/**
 * @param {Facts} facts
 * @param {Plain} panel
 * @returns {Measure}
 */
function measureOf({ signed }, { number: name, digits, ranked, steepest, steps }) {
  const [step, none] = signed ? [steepest / SLOPES, NO_SLOPE] : [1 / STEPS, NO_STEP];
  const values = () => steps.map((/** @type {number} */ value) => (value === none ? 0 : value));
  return { name, low: 0, step, digits, ranked, interval: null, values };
}

/**
 * What every head is called by all panels to which it belongs; null where panels have no such words.
 * @param {Plain[]} shown
 * @param {Uint8Array[]} members
 * @param {string} otherwise
 * @returns {Label | null}
 */
function labelOf(shown, members, otherwise) {
  const named = shown.map((_, i) => i).filter((i) => shown[i].called);
  if (!named.length) return null;
  /** @type {Map<string, number>} */
  const codeOf = new Map();
  const codes = new Uint16Array(members[0].length);
  for (let head = 0; head < codes.length; head++) {
    const mine = named.filter((i) => members[i][head]);
    const words = mine.map((i) => shown[i].called).join(" · ") || otherwise;
    if (!codeOf.has(words)) codeOf.set(words, codeOf.size);
    codes[head] = codeOf.get(words) ?? 0;
  }
  return { words: [...codeOf.keys()], codes };
}

/**
 * From empty to the panel's own colour, or both ways from empty.
 * @param {Facts} facts
 * @param {Plain} panel
 * @param {Palette} palette
 * @returns {Look}
 */
function lookOf(facts, { steps, reason, tone }, palette) {
  const first = palette.missing.length;
  const levels = facts.signed ? FINE : LEVELS;
  const shades = [...palette.missing, ...shadesOf(facts, tone, palette, levels)];
  const codes = reason.map((why, head) => {
    const share = facts.signed ? (steps[head] / SLOPES + 1) / 2 : steps[head] / STEPS;
    return why || first + level(share, levels);
  });
  return { shades, codes, marks: null, empty: palette.empty, ground: "" };
}

/**
 * @param {Facts} facts
 * @param {string} tone
 * @param {Palette} palette
 * @param {number} levels
 */
function shadesOf({ signed }, tone, palette, levels) {
  if (signed) return slopes(palette, levels);
  return once(palette, `${tone} ${levels}`, () => scale(palette.empty, toneOf(palette, tone), levels));
}

/**
 * A colour bar.
 * @param {Facts} facts
 * @param {Plain[]} all
 * @param {Palette} palette
 * @returns {Entry[]}
 */
function legendOf(facts, all, palette) {
  if (!facts.scale) return [];
  return [{ words: facts.scale, kind: "ramp", shades: shadesOf(facts, all[0].tone, palette, BAR), ends: facts.ends }];
}
