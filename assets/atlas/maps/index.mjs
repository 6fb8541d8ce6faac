// @ts-check
// The rules of the maps: those that have rules of their own, and the plain ones.
import * as agreement from "./agreement.mjs";
import * as causal from "./causal.mjs";
import * as relations from "./function.mjs";
import * as plain from "./plain.mjs";
import { unpacked } from "./unpacking.mjs";

/** @typedef {import("../bars.mjs").Profile} Profile */
/** @typedef {import("../heads.mjs").Best} Best */
/** @typedef {import("../heads.mjs").Heads} Heads */
/** @typedef {import("../heads.mjs").Panel} Panel */
/** @typedef {import("../legend.mjs").Entry} Entry */
/** @typedef {import("./palette.mjs").Palette} Palette */
/** @typedef {import("./text.mjs").Said} Said */
/** @typedef {[title: string, heads: number, colour: string, total: number]} Count */

/**
 * @typedef {object} ShareTable how many heads are something, of one task in several columns (dashboard/maps/counts.py)
 * @property {string} task
 * @property {string} caption
 * @property {string[]} columns
 * @property {[words: string, colour: string, heads: number[]][]} rows
 * @property {number} total
 */

/**
 * @typedef {object} View all that follows the controls
 * @property {Panel[]} panels
 * @property {Said[]} sentence
 * @property {Entry[]} legend
 * @property {string} topic what the page's title says in the end
 * @property {Record<string, string>} idle why controls do nothing, by their keys
 * @property {Record<string, Record<string, string>>} [called] what controls call some of their values, by their keys
 * @property {{caption: string, rows: Count[]} | null} counts
 * @property {ShareTable[]} shares
 * @property {Profile | null} profile of all panels together, stacked
 * @property {Best | null} best
 */

/**
 * @typedef {object} Rules of a map
 * @property {(answer: any) => any} prepared
 * @property {(numbers: any, state: any, palette: Palette) => View} viewOf
 * @property {(values: Record<string, unknown>) => void} [decorate] what follows the controls on cards
 * @property {(one: any, other: any, heads: Heads, palette: Palette) => Change | null} [comparisonOf] the figure of two results
 */

/** @typedef {{data: Record<string, unknown>, layout: Record<string, unknown>}} Change of a figure, as plotly takes it */

/** @type {Record<string, Rules>} */
const OWN = { agreement, causal, function: relations };

/**
 * @typedef {object} Follow a map's rules over its numbers
 * @property {(state: Record<string, any>, palette: Palette) => View} view from a state to what is on the page
 * @property {unknown} numbers as the rules have prepared them
 * @property {(other: Follow, heads: Heads, palette: Palette) => Change | null} against how the figure changes that compares it
 */

/**
 * The rules of a map over its numbers.
 * @param {ArrayBuffer} buffer
 * @returns {Follow}
 */
export function rulesOver(buffer) {
  const answer = unpacked(buffer);
  const rules = OWN[answer.facts.map] || plain;
  const numbers = rules.prepared(answer);
  return {
    view: (state, palette) => rules.viewOf(numbers, state, palette),
    numbers,
    against: (other, heads, palette) => rules.comparisonOf?.(numbers, other.numbers, heads, palette) ?? null,
  };
}

/**
 * Write what follows the controls into the maps' parts of all cards.
 * @param {Record<string, unknown>} values of the settings
 */
export function decorateParts(values) {
  for (const rules of [plain, ...Object.values(OWN)]) rules.decorate?.(values);
}
