// @ts-check
// What is said of a head, in the tooltip and to screen readers.
import { fixed } from "./digits.mjs";
import { countOf, indexOf, nameOf } from "./heads.mjs";

/** @typedef {import("./heads.mjs").Heads} Heads */
/** @typedef {import("./heads.mjs").Panel} Panel */
/** @typedef {import("./heads.mjs").Measure} Measure */
/** @typedef {import("./heads.mjs").Numbers} Numbers */
/** @typedef {import("./heads.mjs").Cell} Cell */

/**
 * How many values are larger, plus one: equal values share a rank.
 * @param {Numbers} values
 * @param {number} index
 */
export function rankOf(values, index) {
  const value = values[index];
  let rank = 1;
  for (let i = 0; i < values.length; i++) if (values[i] > value) rank++;
  return rank;
}

/**
 * A measure of a head with its interval and its rank, such as `F 0.42 (0.30–0.55), rank 3 of 270`.
 * @param {Measure} measure
 * @param {number} index
 */
export function measureText(measure, index) {
  const values = measure.values();
  const number = measure.low + measure.step * values[index];
  const name = measure.name ? `${measure.name} ` : "";
  const rank = measure.ranked && number > 0 ? `, rank ${rankOf(values, index)} of ${values.length}` : "";
  return `${name}${written(number, measure.digits)}${intervalText(measure, index)}${rank}`;
}

/**
 * A number with so many digits, its sign as people write it; zero has none.
 * @param {number} number
 * @param {number} digits
 */
function written(number, digits) {
  const text = fixed(number, digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "−");
}

/**
 * The interval of a measure, such as ` (0.30–0.55)`; empty when it has none.
 * @param {Measure} measure
 * @param {number} index
 */
function intervalText({ interval }, index) {
  if (!interval) return "";
  const [low, high] = interval.map((ends) => ends()[index]);
  return high > 0 ? ` ${endsText(low, high)}` : ""; // an interval's end is never 0: none is known
}

/**
 * The ends of an interval in hundredths, such as `(0.30–0.55)`.
 * @param {number} low
 * @param {number} high
 */
function endsText(low, high) {
  return `(${(low / 100).toFixed(2)}–${(high / 100).toFixed(2)})`;
}

/**
 * Why a head has no score in a panel; empty when it has one.
 * @param {Heads} heads
 * @param {Panel} panel
 * @param {number} index
 */
export function reasonText(heads, panel, index) {
  const codes = panel.reason;
  if (codes && codes[index]) return heads.reasons[codes[index]];
  if (panel.measures.length) return "";
  return heads.isWaiting ? "…" : "no score";
}

/**
 * What a panel calls a head.
 * @param {Panel} panel
 * @param {number} index
 */
export function labelText(panel, index) {
  return panel.label ? panel.label.words[panel.label.codes[index]] : "";
}

/**
 * The lines of a panel's scores: a single nameless measure stands behind the title, named ones below it.
 * @param {Heads} heads
 * @param {Panel} panel
 * @param {number} index
 * @returns {string[]}
 */
export function scoreLines(heads, panel, index) {
  const reason = reasonText(heads, panel, index);
  if (reason) return [`${panel.title}: ${reason}`];
  const texts = panel.measures.map((measure) => measureText(measure, index));
  const besides = panel.besides ? [panel.besides.words[panel.besides.codes[index]]].filter(Boolean) : [];
  return isNamed(panel) ? [panel.title, ...texts, ...besides] : [`${panel.title}: ${texts[0]}`, ...besides];
}

/**
 * @param {Panel} panel
 */
function isNamed(panel) {
  return panel.measures.length !== 1 || panel.measures[0].name !== "";
}

/**
 * What a head does best, strongest first, with what is to be said against it.
 * @param {Heads} heads
 * @param {number} index
 * @returns {{words: string, score: string, interval: string, remark: string}[]}
 */
export function bestLines(heads, index) {
  const lines = [];
  const best = heads.best;
  for (let i = 0; best && i < best.count; i++) {
    const at = i * countOf(heads) + index;
    const score = best.score()[at];
    const words = `${best.verbs[best.verb()[at]]} ${best.titles[best.item()[at]]}`;
    const interval = endsText(best.low()[at], best.high()[at]);
    if (score > 0) lines.push({ words, score: fixed(score, 2), interval, remark: best.remarks[best.remark()[at]] });
  }
  return lines;
}

/**
 * A head as it is announced when the keyboard comes to it: its panel, what it is called there, each number by its name.
 * @param {Heads} heads
 * @param {Panel} panel
 * @param {Cell} cell
 */
export function announcement(heads, panel, cell) {
  const index = indexOf(heads, cell);
  const called = [panel.title, labelText(panel, index)].filter(Boolean).join(": ");
  const reason = reasonText(heads, panel, index);
  const named = panel.measures.map((measure) => ({ ...measure, name: measure.name || "score" }));
  const scores = named.map((measure) => measureText(measure, index)).join(" · ");
  return `${nameOf(heads, cell)}, ${called}, ${reason || scores}`;
}
