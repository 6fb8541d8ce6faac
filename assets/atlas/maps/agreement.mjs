// @ts-check
// The rules of the agreement map: from both strengths of every head and two thresholds to classes
// (dashboard/maps/agreement).
export { decorate } from "./agreement_card.mjs";
import { missingEntries, missingPanel } from "./panels.mjs";
import { toneOf } from "./palette.mjs";
import { number } from "./text.mjs";

/** @typedef {import("../heads.mjs").Panel} Panel */
/** @typedef {import("../legend.mjs").Entry} Entry */
/** @typedef {import("./index.mjs").ShareTable} ShareTable */
/** @typedef {import("./index.mjs").View} View */
/** @typedef {import("./palette.mjs").Palette} Palette */
/** @typedef {import("./text.mjs").Said} Said */
/** @typedef {import("./unpacking.mjs").Answer} Answer */
/** @typedef {import("./unpacking.mjs").Facts} Facts */
/** @typedef {{letter: string, words: string, strict: boolean, unit: "share" | "nats"}} Rule */

/**
 * @typedef {object} AgreementState
 * @property {number} label
 * @property {number} cause of shares
 * @property {number} change of nats
 * @property {"mean" | "always" | "any"} matters
 * @property {"all" | "beyond"} counted
 */

/** @typedef {{codes: Uint8Array, reason: Uint8Array, counts: number[], expected: number[]}} Classes of a panel's heads */

const CAUSAL = 1; // added to the class of a head
const LABELLED = 2;
const CLASSES = 4;
const BOTH = CAUSAL + LABELLED;
const COUNTED = ["all", "beyond"];
const OVERS = ["mean", "always", "any"];
const OVER = { mean: "on average over the", always: "in every one of the", any: "in at least one of the" };

/**
 * The numbers of an answer, ready for the rules.
 * @param {Answer} answer
 */
export function prepared(answer) {
  return answer;
}

/**
 * All that follows the controls.
 * @param {Answer} numbers
 * @param {AgreementState} state
 * @param {Palette} palette
 * @returns {View}
 */
export function viewOf({ facts, arrays }, state, palette) {
  const rest = { sentence: sentenceOf(facts, state), topic: "", idle: {}, counts: null, profile: null, best: null };
  if (!facts.panels.length) {
    const panels = [missingPanel(facts, { key: "", title: facts.title }, facts.missing, palette)];
    return { ...rest, panels, legend: missingEntries(panels, facts, palette), shares: [] };
  }
  /** @type {Classes[]} */
  const classes = facts.panels.map((/** @type {unknown} */ _, /** @type {number} */ at) => classesOf(facts, arrays, at, state));
  const panels = classes.map((each, at) => panelOf(facts, arrays, at, each, state, palette));
  const isEmpty = classes.every(({ reason }) => reason.every(Boolean));
  const legend = isEmpty ? [] : legendOf(facts, classes, palette);
  return {
    ...rest,
    panels,
    legend: [...legend, ...missingEntries(panels, facts, palette)],
    shares: classes.map((each, at) => tableOf(facts, each, at, palette)),
  };
}

/**
 * Some array's part for a panel.
 * @param {Facts} facts
 * @param {any} array
 * @param {number} at
 */
function part({ layers, heads }, array, at) {
  const size = layers.length * heads;
  return array.subarray(at * size, (at + 1) * size);
}

/**
 * @param {Facts} facts
 * @param {Record<string, any>} arrays
 * @param {number} at
 * @param {AgreementState} state
 */
function causesOf(facts, arrays, at, state) {
  return part(facts, arrays.causes, OVERS.indexOf(state.matters) * facts.panels.length + at);
}

/**
 * @param {Facts} facts
 * @param {Record<string, any>} arrays
 * @param {number} at
 * @param {AgreementState} state
 */
function labelsOf(facts, arrays, at, state) {
  return part(facts, arrays.labels, COUNTED.indexOf(state.counted) * facts.panels.length + at);
}

/**
 * @param {Rule} rule
 * @param {AgreementState} state
 */
function leastCause({ unit }, state) {
  return unit === "share" ? state.cause : state.change;
}

/**
 * @param {Rule} rule
 * @param {number} strength
 * @param {number} least
 */
function holds({ strict }, strength, least) {
  return strict ? strength > least : strength >= least;
}

/**
 * The class of every head, and how many are in each.
 * @param {Facts} facts
 * @param {Record<string, any>} arrays
 * @param {number} at
 * @param {AgreementState} state
 * @returns {Classes}
 */
function classesOf(facts, arrays, at, state) {
  const labels = labelsOf(facts, arrays, at, state);
  const causes = causesOf(facts, arrays, at, state);
  const reason = part(facts, arrays.missing, at);
  const least = leastCause(facts.cause, state);
  const codes = new Uint8Array(labels.length);
  const counts = new Array(CLASSES).fill(0);
  for (let head = 0; head < codes.length; head++) {
    if (holds(facts.label, labels[head], state.label)) codes[head] += LABELLED;
    if (holds(facts.cause, causes[head], least)) codes[head] += CAUSAL;
    if (!reason[head]) counts[codes[head]] += 1;
  }
  return { codes, reason, counts, expected: expectedOf(counts) };
}

/**
 * How many heads would be in each class if label and cause were independent.
 * @param {number[]} counts
 */
export function expectedOf(counts) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const labelled = counts[LABELLED] + counts[BOTH];
  const causal = counts[CAUSAL] + counts[BOTH];
  return counts.map((_, code) => {
    const ofLabel = code & LABELLED ? labelled : total - labelled;
    const ofCause = code & CAUSAL ? causal : total - causal;
    return total ? (ofLabel * ofCause) / total : 0;
  });
}

/**
 * The probability that at least so many heads are labelled and causal if the labels are drawn at random.
 * @param {number[]} counts
 */
export function chanceOfBoth(counts) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const labelled = counts[LABELLED] + counts[BOTH];
  const causal = counts[CAUSAL] + counts[BOTH];
  const logs = [0]; // of the factorials
  for (let n = 1; n <= total; n++) logs.push(logs[n - 1] + Math.log(n));
  const all = logs[labelled] + logs[total - labelled] + logs[causal] + logs[total - causal] - logs[total];
  let chance = 0;
  for (let both = counts[BOTH]; both <= Math.min(labelled, causal); both++) {
    const others = logs[labelled - both] + logs[causal - both] + logs[total - labelled - causal + both];
    chance += Math.exp(all - logs[both] - others);
  }
  return Math.min(1, chance);
}

/**
 * @param {number} p
 */
function pWords(p) {
  return p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`;
}

/**
 * @param {number} value
 */
function tenths(value) {
  return Math.floor(10 * value + 0.5) / 10;
}

/**
 * @param {Facts} facts
 * @param {number} code
 * @param {Palette} palette
 */
function colourOf(facts, code, palette) {
  return facts.tones[code] ? toneOf(palette, facts.tones[code]) : palette.empty;
}

/**
 * @param {Facts} facts
 * @param {Record<string, any>} arrays
 * @param {number} at
 * @param {Classes} found
 * @param {AgreementState} state
 * @param {Palette} palette
 * @returns {Panel}
 */
function panelOf(facts, arrays, at, { codes, reason, counts, expected }, state, palette) {
  const first = palette.missing.length;
  const shades = [...palette.missing];
  for (let code = 0; code < CLASSES; code++) shades.push(colourOf(facts, code, palette));
  const look = { shades, codes: codes.map((code, head) => reason[head] || first + code), marks: null, empty: palette.empty, ground: "" };
  const measure = (/** @type {Rule} */ { words }, /** @type {() => Float64Array} */ values) => ({
    name: words, low: 0, step: 1, digits: 2, ranked: true, interval: null, values,
  });
  return {
    key: facts.panels[at].key,
    title: facts.panels[at].title,
    note: `${counts[BOTH]} both, ${tenths(expected[BOTH]).toFixed(1)} by chance (${pWords(chanceOfBoth(counts))})`,
    row: "",
    column: "",
    reason: reason.some(Boolean) ? reason : null,
    label: { words: facts.words, codes: Uint16Array.from(codes) },
    measures: [
      measure(facts.label, () => labelsOf(facts, arrays, at, state)),
      measure(facts.cause, () => causesOf(facts, arrays, at, state)),
    ],
    look,
    profile: null,
  };
}

/**
 * When a head is labelled, and when it is causal.
 * @param {Facts} facts
 * @param {AgreementState} state
 * @returns {Said[]}
 */
function sentenceOf(facts, state) {
  const label = aboveOf(facts.label, state.label, facts.copying && state.counted === "beyond" ? " beyond copying" : "");
  const cause = aboveOf(facts.cause, leastCause(facts.cause, state));
  const over = facts.samples ? `, ${OVER[state.matters]} ${facts.samples}` : "";
  return [
    `Each square is one attention head of ${facts.model}. It is `,
    { b: "labelled" },
    ` if its ${label} for any relation, or for the panel's own relation (${facts.what}), and `,
    { b: "causal" },
    ` if its ${cause}${over} (${facts.whether}).`,
  ];
}

/**
 * @param {Rule} rule
 * @param {number} least
 * @param {string} [more]
 */
function aboveOf({ words, strict, letter }, least, more = "") {
  return `${words}${more} is ${strict ? "above" : "at least"} ${letter} = ${number(least)}`;
}

/**
 * A colour for each class, with how many heads of each panel are in it.
 * @param {Facts} facts
 * @param {Classes[]} classes
 * @param {Palette} palette
 * @returns {Entry[]}
 */
function legendOf(facts, classes, palette) {
  return facts.order.map((/** @type {number} */ code) => {
    const parts = classes.map(({ counts, expected }, at) => {
      const chance = code === BOTH ? ` (${tenths(expected[code]).toFixed(1)} by chance)` : "";
      return `${facts.panels[at].title} ${counts[code]}${chance}`;
    });
    return { words: `${facts.words[code]}: ${parts.join(", ")}`, colour: colourOf(facts, code, palette), kind: "swatch" };
  });
}

/**
 * Every class of a panel, beside what independence would give.
 * @param {Facts} facts
 * @param {Classes} found
 * @param {number} at
 * @param {Palette} palette
 * @returns {ShareTable}
 */
function tableOf(facts, { counts, expected }, at, palette) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const rows = facts.order.map((/** @type {number} */ code) => [
    facts.words[code],
    colourOf(facts, code, palette),
    [counts[code], tenths(expected[code])],
  ]);
  return { ...facts.table, task: facts.table.task + facts.panels[at].key, rows, total: Math.max(total, 1) };
}
