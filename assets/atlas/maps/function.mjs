// @ts-check
// The rules of the function map: from its numbers and the state to all that follows the controls.
export { decorate } from "./function_card.mjs";
export { comparisonOf } from "./function_comparison.mjs";
import { SEVERAL, SEVERAL_TONES } from "./function_colours.mjs";
import { decisionOf, kindsOf, labelAt, labelsOf, nearestBeyond } from "./function_labels.mjs";
import { lookOf } from "./function_looks.mjs";
import { ALL, ALL_TITLE, countOf, groupsOf, singlePanels, wholePanel } from "./function_panels.mjs";
import { captionOf, labelsOfHeads, legendOf, relationOf, sentenceOf } from "./function_words.mjs";
import { later, missingEntries, missingPanel, sharesOf } from "./panels.mjs";
import { toneOf } from "./palette.mjs";
import { headsIn } from "./text.mjs";

/** @typedef {import("../heads.mjs").Best} Best */
/** @typedef {import("../heads.mjs").Panel} Panel */
/** @typedef {import("./function_labels.mjs").FunctionState} FunctionState */
/** @typedef {import("./function_labels.mjs").Labels} Labels */
/** @typedef {import("./function_labels.mjs").Ranked} Ranked */
/** @typedef {import("./function_panels.mjs").Plain} Plain */
/** @typedef {import("./function_panels.mjs").Whole} Whole */
/** @typedef {import("./index.mjs").View} View */
/** @typedef {import("./index.mjs").Count} Count */
/** @typedef {import("./palette.mjs").Palette} Palette */
/** @typedef {import("./unpacking.mjs").Answer} Answer */
/** @typedef {import("./unpacking.mjs").Facts} Facts */

const PLACES = 3; // relations named in a tooltip
const REMARKS = ["", "copy-like", "unspecific", "copy-like, unspecific"]; // whether it is the one, twice whether the other

/**
 * The numbers of an answer, ready for the rules.
 * @param {Answer} answer
 */
export function prepared(answer) {
  return { facts: answer.facts, labels: labelsOf(answer) };
}

/** @typedef {ReturnType<typeof prepared>} Numbers */

/**
 * All that follows the controls.
 * @param {Numbers} numbers
 * @param {FunctionState} state
 * @param {Palette} palette
 * @returns {View}
 */
export function viewOf({ facts, labels }, state, palette) {
  const topic = relationOf(facts, state)?.title || "";
  const said = { sentence: sentenceOf(facts, state), topic, idle: idleOf(facts, state) };
  if (!facts.items.length) {
    const panels = [missingPanel(facts, { key: ALL, title: ALL_TITLE }, facts.missing, palette)];
    return { ...said, panels, legend: missingEntries(panels, facts, palette), counts: null, shares: [], profile: null, best: null };
  }
  const single = singlePanels(facts, labels, state);
  const plain = topic ? single : [wholePanel(labels, single, state), ...single];
  const label = later(() => labelsOfHeads(single));
  const panels = plain.map((panel) => panelOf(panel, label, labels, state, palette));
  return {
    ...said,
    panels,
    get legend() {
      const isEmpty = plain.every((panel) => panel.value.every(Number.isNaN));
      return [...(isEmpty ? [] : legendOf(plain, state, palette)), ...missingEntries(panels, facts, palette)];
    },
    get counts() {
      return { caption: captionOf(labels.size, state), rows: plain.map((panel) => countedOf(panel, palette)) };
    },
    shares: [],
    get profile() {
      const profile = profileOf(plain[0], facts, palette);
      if (state.labels !== "beyond") return profile;
      const groups = groupsOf(facts, labels, state).map(({ items }) => items);
      return { ...profile, beyond: nearestBeyond(labels, groups, state) };
    },
    best: bestOf(facts, labels, state),
  };
}

/**
 * @param {Plain | Whole} plain
 * @param {() => Panel["label"]} label
 * @param {Labels} labels
 * @param {FunctionState} state
 * @param {Palette} palette
 * @returns {Panel}
 */
function panelOf(plain, label, labels, state, palette) {
  const end = (/** @type {(label: number) => number} */ of) =>
    later(() => Float64Array.from(plain.label, (at) => Math.round(100 * (of(at) || 0))));
  const interval = /** @type {[() => Float64Array, () => Float64Array]} */ ([end(labels.low), end(labels.high)]);
  return {
    key: plain.key,
    title: plain.title,
    note: headsIn(countOf(plain.member)),
    row: "",
    column: "",
    leads: "single" in plain,
    reason: plain.reason.some(Boolean) ? plain.reason : null,
    get label() {
      return label();
    },
    measures: [{ name: "", low: 0, step: 1, digits: 2, ranked: true, interval, values: () => plain.value }],
    look: lookOf(plain, state, palette),
    profile: null,
  };
}

/**
 * @param {Plain} panel
 * @param {Palette} palette
 * @returns {Count}
 */
function countedOf({ title, member, tone }, palette) {
  return [title, countOf(member), tone ? toneOf(palette, tone) : palette.faint, member.length];
}

/**
 * The share of each layer's heads by their colour, none counted twice.
 * @param {Plain | Whole} panel
 * @param {Facts} facts
 * @param {Palette} palette
 */
function profileOf(panel, facts, palette) {
  /** @type {[name: string, tone: string, flags: Uint8Array][]} */
  const hues = [];
  if ("single" in panel) {
    for (const [i, { title, tone }] of panel.single.entries()) {
      hues.push([title, tone, panel.coloured[i].map((is, head) => (panel.howMany[head] === 1 ? is : 0))]);
    }
    for (const [i, name] of SEVERAL.entries()) {
      const flags = panel.howMany.map((count) => (count > 1 && Math.min(count - 2, 2) === i ? 1 : 0));
      if (countOf(flags)) hues.push([name, SEVERAL_TONES[i], flags]);
    }
  } else {
    const [title] = facts.categories.filter((/** @type {any} */ one) => one.name === panel.tone);
    hues.push([title.title, panel.tone, panel.member]);
  }
  return {
    names: hues.map(([name]) => name),
    colours: hues.map(([, tone]) => toneOf(palette, tone)),
    shares: hues.map(([, , flags]) => sharesOf(flags, panel.reason, facts)),
    signed: false,
  };
}

/**
 * The controls that do nothing in this state, each with the reason.
 * @param {Facts} facts
 * @param {FunctionState} state
 * @returns {Record<string, string>}
 */
function idleOf(facts, state) {
  /** @type {Record<string, string>} */
  const reasons = {};
  if (relationOf(facts, state)) {
    reasons.how = "One relation is shown: there are no others to combine it with.";
    reasons.also = "One relation is shown: choose All, by category to add another category.";
  }
  if (state.colour === "scores") {
    reasons.uncertain = "Scores are shown as they are; choose Category to see which labels are uncertain.";
  }
  return reasons;
}

/**
 * The relations that every head does best, found when first asked for.
 * @param {Facts} facts
 * @param {Labels} labels
 * @param {FunctionState} state
 * @returns {Best}
 */
function bestOf(facts, labels, state) {
  const kinds = kindsOf(labels, state);
  return {
    count: Math.min(PLACES, labels.items.length),
    titles: labels.items.map((item) => item.title),
    verbs: kinds.map((kind) => facts.verbs[kind]),
    item: () => ranked(labels, kinds).item,
    verb: () => ranked(labels, kinds).verb,
    score: () => ranked(labels, kinds).score,
    low: later(() => endsOf(labels, kinds, labels.low)),
    high: later(() => endsOf(labels, kinds, labels.high)),
    remarks: REMARKS,
    remark: later(() => remarksOf(labels, kinds, state.tau)),
  };
}

/**
 * What is to be said against the scores above τ among what heads do best: a place in `REMARKS`.
 * @param {Labels} labels
 * @param {number[]} kinds
 * @param {number} tau
 */
function remarksOf(labels, kinds, tau) {
  const { item, verb } = ranked(labels, kinds);
  return item.map((of, at) => {
    const label = labelAt(labels, of, kinds[verb[at]], at % labels.size);
    return labels.score[label] > tau ? labels.copies[label] + (labels.control[label] > tau ? 2 : 0) : 0;
  });
}

/**
 * One end of the intervals of what heads do best, in hundredths.
 * @param {Labels} labels
 * @param {number[]} kinds
 * @param {(label: number) => number} end
 */
function endsOf(labels, kinds, end) {
  const { item, verb } = ranked(labels, kinds);
  return Float64Array.from(item, (of, at) => {
    const label = labelAt(labels, of, kinds[verb[at]], at % labels.size);
    return Math.round(100 * (end(label) || 0));
  });
}

/**
 * The best relations of every head, the same for all that depends on these kinds alone.
 * @param {Labels} labels
 * @param {number[]} kinds
 */
function ranked(labels, kinds) {
  const known = labels.ranked.get(kinds.join());
  if (known) return known;
  const { size } = labels;
  const count = Math.min(PLACES, labels.items.length);
  const made = {
    item: new Uint8Array(count * size),
    verb: new Uint8Array(count * size),
    score: new Float64Array(count * size).fill(-Infinity),
  };
  for (const [i, item] of labels.items.entries()) {
    const { label, strength } = decisionOf(labels, { items: [i], kinds }, "any");
    for (let head = 0; head < size; head++) {
      const verb = kinds.indexOf(Math.floor(label[head] / size) % labels.kinds.length);
      insert(made, head, size, { item: i, verb, score: item.beside ? -1 : strength[head] }); // relations alone are named
    }
  }
  labels.ranked.set(kinds.join(), made);
  return made;
}

/**
 * Put a relation before the weaker ones of a head, of which the weakest falls out.
 * @param {Ranked} places
 * @param {number} head
 * @param {number} size from a place to the next
 * @param {{item: number, verb: number, score: number}} added
 */
function insert({ item, verb, score }, head, size, added) {
  let at = score.length - size + head;
  if (!(added.score > score[at])) return;
  for (; at >= size && added.score > score[at - size]; at -= size) {
    item[at] = item[at - size];
    verb[at] = verb[at - size];
    score[at] = score[at - size];
  }
  [item[at], verb[at], score[at]] = [added.item, added.verb, added.score];
}
