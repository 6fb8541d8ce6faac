// @ts-check
// What the function map shows and its colours mean, in words (dashboard/maps/function/words.py and legend.py).
import { countOf } from "./function_panels.mjs";
import { SEVERAL, SEVERAL_TONES, tint, TINTS } from "./function_colours.mjs";
import { blend, toneOf } from "./palette.mjs";
import { number } from "./text.mjs";

/** @typedef {import("./function_labels.mjs").FunctionState} FunctionState */
/** @typedef {import("./function_panels.mjs").Plain} Plain */
/** @typedef {import("./function_panels.mjs").Whole} Whole */
/** @typedef {import("./palette.mjs").Palette} Palette */
/** @typedef {import("./text.mjs").Said} Said */
/** @typedef {import("./unpacking.mjs").Facts} Facts */
/** @typedef {import("../legend.mjs").Entry} Entry */

const DOES = { both: "promotes or suppresses", promote: "promotes", suppress: "suppresses" };
const POOR = "copy-like or unspecific";
// After a category, by what a head is in it: nothing, hollow, a member; then the last two by suppressing.
const HOW = ["", ` (${POOR})`, "", ` (suppressed; ${POOR})`, " (suppressed)"];
const HOLLOW_WORDS =
  "hollow: copy-like (the source itself ranks higher) or unspecific (shuffled targets score above τ, too)";
const PALE_WORDS = "lighter inside: uncertain (the 95 % interval contains τ)";
const HALF_WORDS = "lower left half: suppresses (pushes the right words down)";
const HALF_ABOVE_WORDS = `${HALF_WORDS}, shown above τ only`;
const SCORE_WORDS = "score: the share of word pairs, in each panel's colour";

/**
 * The relation that is shown alone.
 * @param {Facts} facts
 * @param {FunctionState} state
 */
export function relationOf(facts, state) {
  return facts.items.find((/** @type {any} */ item) => item.name === state.relation) || null;
}

/**
 * How to read what is on the page.
 * @param {Facts} facts
 * @param {FunctionState} state
 * @returns {Said[]}
 */
export function sentenceOf(facts, state) {
  const start = `Each square is one attention head of ${facts.model}, ${facts.about}; `;
  const does = DOES[state.kind];
  const what = whatOf(facts, state);
  const filter = state.labels === "beyond" ? " Only labels beyond copying count." : "";
  if (state.colour === "scores") {
    const rule = `the stronger its colour, the more often it ${does} the right word of `;
    return [start, rule, ...what, `${facts.carriers}.${filter}`, ...besideOf(facts, state), ...facts.more];
  }
  const belongs = relationOf(facts, state) ? "counts" : "belongs to a category";
  const share = number(100 * state.tau);
  const rule = `it ${belongs} if it ${does} the right word for more than ${share} % of the pairs of `;
  const end = `${facts.carriers}; lower scores are only tinted.`;
  const top = state.top ? ` Only the top ${state.top} per category are coloured.` : "";
  return [start, rule, ...what, `${end}${filter}${top}`, ...besideOf(facts, state), ...facts.more];
}

/**
 * @param {Facts} facts
 * @param {FunctionState} state
 * @returns {Said[]}
 */
function whatOf(facts, state) {
  const item = relationOf(facts, state);
  if (item) return [{ b: item.title }, ` (${item.sentence.slice(0, 1).toLowerCase()}${item.sentence.slice(1).replace(/\.$/, "")})`];
  return [{ b: state.how === "any" ? "any" : "every" }, " relation in the category"];
}

/**
 * When a head belongs to the categories that are none of relations, where these are on the page.
 * @param {Facts} facts
 * @param {FunctionState} state
 * @returns {Said[]}
 */
function besideOf(facts, state) {
  if (relationOf(facts, state)) return [];
  const between = state.colour === "scores" ? "" : ", and more than τ,";
  return facts.beside.map((/** @type {[string, string]} */ parts) => parts.join(between));
}

/**
 * A colour for each category and for several at once, marks, tints below τ; or a colour bar of the scores.
 * @param {(Plain | Whole)[]} panels
 * @param {FunctionState} state
 * @param {Palette} palette
 * @returns {Entry[]}
 */
export function legendOf(panels, state, palette) {
  if (state.colour === "scores") {
    const half = panels.some((panel) => countOf(panel.falls)) ? [halfEntry(HALF_WORDS, palette)] : [];
    const shades = [palette.empty, palette.accent];
    const hollow = insides({ ...panels[0], pale: null }, palette);
    return [{ words: SCORE_WORDS, kind: "ramp", shades, ends: ["0", "1"] }, ...half, ...hollow];
  }
  const half = panels.some((panel) => countOf(panel.suppresses)) ? [halfEntry(HALF_ABOVE_WORDS, palette)] : [];
  const single = panels.filter((panel) => !("single" in panel));
  /** @type {Entry[]} */
  const entries = single.map(({ title, tone }) => ({ words: title, colour: toneOf(palette, tone), kind: "swatch" }));
  if ("single" in panels[0]) entries.push(...severalEntries(single, palette));
  entries.push(...half, ...insides(panels[0], palette));
  const shades = [];
  for (let step = 1; step < TINTS; step++) shades.push(tint(palette, single[0].tone, step));
  entries.push({ words: `below τ = ${number(state.tau)} (${palette.stronger} = closer)`, kind: "ramp", shades });
  entries.push({ words: "score 0", colour: palette.empty, kind: "swatch" });
  return entries;
}

/**
 * @param {string} words
 * @param {Palette} palette
 * @returns {Entry}
 */
function halfEntry(words, palette) {
  return { words, colour: palette.faint, kind: "half", inside: palette.empty };
}

/**
 * @param {Plain[]} single
 * @param {Palette} palette
 * @returns {Entry[]}
 */
function severalEntries(single, palette) {
  let most = 2;
  for (let head = 0; head < single[0].member.length; head++) {
    let count = 0;
    for (const { member } of single) count += member[head];
    most = Math.max(most, count);
  }
  const names = SEVERAL.filter((_, i) => i + 2 <= Math.min(most, single.length));
  return names.map((words, i) => ({ words, colour: toneOf(palette, SEVERAL_TONES[i]), kind: "swatch" }));
}

/**
 * What cells that are not filled mean, where there are any.
 * @param {Pick<Plain, "hollow" | "pale">} panel
 * @param {Palette} palette
 * @returns {Entry[]}
 */
function insides({ hollow, pale }, palette) {
  /** @type {Entry[]} */
  const entries = [];
  const framed = { colour: palette.faint, kind: /** @type {const} */ ("framed") };
  if (hollow && countOf(hollow)) entries.push({ words: HOLLOW_WORDS, ...framed, inside: palette.empty });
  const half = blend(palette.empty, palette.faint, 0.5);
  if (pale && countOf(pale)) entries.push({ words: PALE_WORDS, ...framed, inside: half });
  return entries;
}

/**
 * What every head is called: the categories that it belongs to, and how.
 * @param {Plain[]} single
 */
export function labelsOfHeads(single) {
  const combined = new Uint32Array(single[0].member.length);
  for (const [place, { member, hollow, suppresses }] of single.entries()) {
    const weight = HOW.length ** place;
    for (let head = 0; head < combined.length; head++) {
      combined[head] += (2 * member[head] - (hollow ? hollow[head] : 0) + 2 * suppresses[head]) * weight;
    }
  }
  const distinct = [...new Set(combined)].sort((one, other) => one - other);
  const places = new Map(distinct.map((combination, place) => [combination, place]));
  const words = distinct.map((combination) => wordsOf(single, combination));
  const codes = new Uint16Array(combined.length);
  for (let head = 0; head < codes.length; head++) codes[head] = places.get(combined[head]) || 0;
  return { words, codes };
}

/**
 * @param {Plain[]} single
 * @param {number} combination a digit for each panel
 */
function wordsOf(single, combination) {
  const titles = [];
  for (const [place, { title }] of single.entries()) {
    const digit = Math.floor(combination / HOW.length ** place) % HOW.length;
    if (digit) titles.push(title + HOW[digit]);
  }
  return titles.join(" · ") || "Unclassified";
}

/**
 * What is counted.
 * @param {number} total
 * @param {FunctionState} state
 */
export function captionOf(total, state) {
  const which = state.labels === "beyond" ? ", beyond copying" : "";
  const only = state.top ? `, the top ${state.top} per category` : "";
  return `Heads above τ${which}, of ${total.toLocaleString("en")}${only}`;
}
