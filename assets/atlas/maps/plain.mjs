// @ts-check
// The rules of a plain map, one number for every head and panel: from its numbers and the state to all that follows the
// controls (dashboard/maps/plain.py).
export { decorate } from "./plain_card.mjs";
import { blend, level, LEVELS, once, scale, slope, slopes, toneOf } from "./palette.mjs";
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
/** @typedef {{panel: Plain, member: Uint8Array, faint: Uint8Array | null}} Shown a panel under a state */

const FINE = 65; // levels of a scale with a middle
const BAR = 9; // colours of the legend's bar
const FAINT = 0.25; // of its colour that a head has beside the best ones

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
  const there = all.filter(({ variant }) => !variant || variant === state[facts.chooses]);
  const least = facts.threshold ? thresholdStep(state[facts.threshold]) : Infinity;
  const best = facts.top ? state[facts.top] : 0;
  const every = there.map((panel) => {
    const member = panel.member || flagsOf(panel.steps, least);
    return { panel, member, faint: faintOf(panel, best) };
  });
  const label = labelOf(every, facts.otherwise);
  const alone = every.filter(({ panel }) => facts.alone && panel.key === state[facts.alone]);
  const shown = alone.length ? alone : every;
  const reached = facts.threshold ? ` ≥ ${number(state[facts.threshold])}` : "";
  const panels = shown.map((each) => panelOf(facts, each, reached, label, palette));
  const isEmpty = panels.every(({ reason }) => reason && reason.every(Boolean));
  const legend = isEmpty ? [] : legendOf(facts, all[0].tone, shown, best, palette);
  return {
    panels,
    sentence: facts.sentence,
    legend: [...legend, ...missingEntries(panels, facts, palette)],
    topic: shown.length < every.length ? shown[0].panel.title : "",
    idle: {},
    counts: null,
    shares: [],
    profile: null,
    best: null,
  };
}

/**
 * The heads beside so many best ones, on a signed map those that are furthest from 0; equal ones stay together. Null where
 * all are among them.
 * @param {Plain} panel
 * @param {number} best 0 for all
 * @returns {Uint8Array | null}
 */
function faintOf({ steps, reason }, best) {
  /** @type {number[]} */
  const known = [];
  for (let head = 0; head < steps.length; head++) if (!reason[head]) known.push(Math.abs(steps[head]));
  if (!best || best >= known.length) return null;
  const least = known.sort((one, other) => other - one)[best - 1];
  return reason.map((why, head) => (!why && Math.abs(steps[head]) < least ? 1 : 0));
}

/**
 * How many heads belong, and how many of them are not faint where that is not all.
 * @param {Shown} shown
 */
function counted({ member, faint }) {
  let [every, here] = [0, 0];
  for (let head = 0; head < member.length; head++) {
    every += member[head];
    if (member[head] && !faint?.[head]) here += 1;
  }
  return here === every ? headsIn(every) : `${here} of ${headsIn(every)}`;
}

/**
 * @param {Facts} facts
 * @param {Shown} shown
 * @param {string} least what those reach that are counted
 * @param {Label | null} label
 * @param {Palette} palette
 * @returns {Panel}
 */
function panelOf(facts, shown, least, label, palette) {
  const { panel, faint } = shown;
  return {
    key: panel.key,
    title: panel.title,
    note: panel.remark || counted(shown) + (panel.member ? "" : least),
    row: "",
    column: "",
    reason: panel.reason.some(Boolean) ? panel.reason : null,
    label,
    measures: [measureOf(facts, panel)],
    look: lookOf(facts, panel, faint, palette),
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
 * What every head is called by all panels to which it belongs, whichever is shown alone; null where panels have no such words.
 * @param {Shown[]} every
 * @param {string} otherwise
 * @returns {Label | null}
 */
function labelOf(every, otherwise) {
  const named = every.filter(({ panel }) => panel.called);
  if (!named.length) return null;
  /** @type {Map<string, number>} */
  const codeOf = new Map();
  const codes = new Uint16Array(named[0].member.length);
  for (let head = 0; head < codes.length; head++) {
    const mine = named.filter(({ member }) => member[head]);
    const words = mine.map(({ panel }) => panel.called).join(" · ") || otherwise;
    if (!codeOf.has(words)) codeOf.set(words, codeOf.size);
    codes[head] = codeOf.get(words) ?? 0;
  }
  return { words: [...codeOf.keys()], codes };
}

/**
 * From empty to the panel's own colour, or both ways from empty.
 * @param {Facts} facts
 * @param {Plain} panel
 * @param {Uint8Array | null} faint
 * @param {Palette} palette
 * @returns {Look}
 */
function lookOf(facts, { steps, reason, tone }, faint, palette) {
  const first = palette.missing.length;
  const levels = facts.signed ? FINE : LEVELS;
  const shades = [...palette.missing, ...shadesOf(facts, tone, palette, levels)];
  const codes = reason.map((why, head) => {
    const colour = faint?.[head] ? FAINT : 1;
    const share = facts.signed ? (colour * (steps[head] / SLOPES) + 1) / 2 : colour * (steps[head] / STEPS);
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
 * A colour bar, and what faint colours mean where there are any.
 * @param {Facts} facts
 * @param {string} tone
 * @param {Shown[]} shown
 * @param {number} best
 * @param {Palette} palette
 * @returns {Entry[]}
 */
function legendOf(facts, tone, shown, best, palette) {
  if (!facts.scale) return [];
  /** @type {Entry[]} */
  const entries = [{ words: facts.scale, kind: "ramp", shades: shadesOf(facts, tone, palette, BAR), ends: facts.ends }];
  if (shown.some(({ faint }) => faint?.some(Boolean))) {
    const words = `faint: not among the top ${best} of the panel`;
    entries.push({ words, kind: "ramp", shades: faintShades(facts, tone, palette) });
  }
  return entries;
}

/**
 * The colours of faint heads, from the weakest on.
 * @param {Facts} facts
 * @param {string} tone
 * @param {Palette} palette
 */
function faintShades({ signed }, tone, palette) {
  if (signed) return [-FAINT, 0, FAINT].map((share) => slope(palette, share));
  return [palette.empty, blend(palette.empty, toneOf(palette, tone), FAINT)];
}
