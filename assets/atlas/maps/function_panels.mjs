// @ts-check
// From scores and state to what each panel of the function map shows (dashboard/maps/function/panels.py).
import {
  CERTAIN, COUNTS, counting, GOOD, isSuppressing, kindsOf, reducedOf, worthOf,
} from "./function_labels.mjs";

/** @typedef {import("./function_labels.mjs").Labels} Labels */
/** @typedef {import("./function_labels.mjs").FunctionState} FunctionState */
/** @typedef {import("./unpacking.mjs").Facts} Facts */

/**
 * @typedef {object} Plain what a panel shows, no colours yet; arrays run over layers, then heads
 * @property {string} key
 * @property {string} title
 * @property {string} tone
 * @property {Float64Array} value the score that decides
 * @property {Uint8Array} member
 * @property {Uint8Array} reason
 * @property {Int32Array} label the label behind each value
 * @property {Uint8Array} worth flags
 * @property {Uint8Array | null} hollow
 * @property {Uint8Array | null} pale
 * @property {Uint8Array} suppresses
 */

/** @typedef {Plain & {single: Plain[], coloured: Uint8Array[], howMany: Uint8Array}} Whole the panel of all categories */

export const ALL = "all";
export const ALL_TITLE = "All categories";

/**
 * The panels of the categories, or of one relation.
 * @param {Facts} facts
 * @param {Labels} labels
 * @param {FunctionState} state
 * @returns {Plain[]}
 */
export function singlePanels(facts, labels, state) {
  const alone = facts.items.findIndex((/** @type {any} */ item) => item.name === state.relation);
  if (alone >= 0) {
    const { name, title, category } = facts.items[alone];
    return [panelOf(labels, { key: name, title, tone: category }, [alone], state, facts.measured)];
  }
  return facts.categories.map((/** @type {{name: string, title: string}} */ { name, title }) => {
    const items = [];
    for (const [i, item] of labels.items.entries()) if (item.category === name) items.push(i);
    return panelOf(labels, { key: name, title, tone: name }, items, state, facts.measured);
  });
}

/**
 * @param {Labels} labels
 * @param {{key: string, title: string, tone: string}} named
 * @param {number[]} items
 * @param {FunctionState} state
 * @param {boolean} isMeasured
 * @returns {Plain}
 */
function panelOf(labels, named, items, state, isMeasured) {
  const { size } = labels;
  const chosen = { items, kinds: kindsOf(labels, state) };
  const worth = worthOf(labels, chosen, state);
  const label = counting(labels, chosen, state, worth);
  const { value: reduced, reason } = reducedOf(labels, chosen, state.how);
  const value = new Float64Array(size);
  for (let head = 0; head < size; head++) {
    value[head] = worth[head] & COUNTS ? labels.score[label[head]] : reduced[head];
  }
  const member = membersOf(value, worth, state);
  const hollow = isMeasured ? member.map((is, head) => (is && !(worth[head] & GOOD) ? 1 : 0)) : null;
  const pale = state.uncertain ? member.map((is, head) => (is && !(worth[head] & CERTAIN) ? 1 : 0)) : null;
  const suppresses = member.map((is, head) => (is && isSuppressing(labels, label[head]) ? 1 : 0));
  return { ...named, value, member, reason, label, worth, hollow, pale, suppresses };
}

/**
 * The heads that belong: above τ, and only the strongest of them where so many are asked for; equal ones stay together.
 * @param {Float64Array} value
 * @param {Uint8Array} worth
 * @param {FunctionState} state
 */
function membersOf(value, worth, { tau, top }) {
  const member = worth.map((flags, head) => (flags & COUNTS && value[head] > tau ? 1 : 0));
  const above = value.filter((_, head) => member[head]).sort();
  if (!top || top >= above.length) return member;
  const least = above[above.length - top];
  return member.map((is, head) => (is && value[head] >= least ? 1 : 0));
}

/**
 * Every category at once: the best score of any.
 * @param {Labels} labels
 * @param {Plain[]} single
 * @param {FunctionState} state
 * @returns {Whole}
 */
export function wholePanel(labels, single, state) {
  const label = labels.score.length ? strongest(labels, single, state) : new Int32Array(0);
  const value = Float64Array.from(label, (at) => labels.score[at]);
  const member = unionOf(single.map((panel) => panel.member));
  const reason = new Uint8Array(labels.size);
  for (let head = 0; head < labels.size; head++) {
    if (Number.isNaN(value[head])) for (const panel of single) reason[head] = Math.max(reason[head], panel.reason[head]);
  }
  const coloured = colouredBy(single);
  const howMany = new Uint8Array(labels.size);
  for (const flags of coloured) for (let head = 0; head < labels.size; head++) howMany[head] += flags[head];
  const marks = { hollow: withoutPlain(single, "hollow"), pale: withoutPlain(single, "pale") };
  const suppresses = byTheStrongest(single, coloured);
  const named = { key: ALL, title: ALL_TITLE, tone: "" };
  return { ...named, value, member, reason, label, worth: member, ...marks, suppresses, single, coloured, howMany };
}

/**
 * Of each head the deciding label of its strongest category, before others of one that counts it.
 * @param {Labels} labels
 * @param {Plain[]} single
 * @param {FunctionState} state
 */
function strongest(labels, single, state) {
  const strongest = new Int32Array(labels.size);
  for (let head = 0; head < labels.size; head++) {
    let most = -Infinity;
    for (const { label, worth } of single) {
      const score = labels.score[label[head]];
      const bonus = state.labels === "beyond" && worth[head] & COUNTS ? 2 : 0;
      const strength = (Number.isNaN(score) ? -1 : score) + bonus;
      if (strength > most) [most, strongest[head]] = [strength, label[head]];
    }
  }
  return strongest;
}

/**
 * The categories that colour a head: those by which it is filled, or else those by which it is hollow.
 * @param {Plain[]} single
 * @returns {Uint8Array[]}
 */
function colouredBy(single) {
  if (!single[0].hollow) return single.map((panel) => panel.member);
  const filled = single.map(({ member, hollow }) => member.map((is, head) => (is && !(hollow && hollow[head]) ? 1 : 0)));
  const some = unionOf(filled);
  return single.map(({ member }, i) => member.map((is, head) => (some[head] ? filled[i][head] : is)));
}

/**
 * Members of one category or more that are hollow, or pale, in all of these.
 * @param {Plain[]} single
 * @param {"hollow" | "pale"} name
 */
function withoutPlain(single, name) {
  if (!single[0][name]) return null;
  const plain = single.map((panel) => panel.member.map((is, head) => (is && !panel[name]?.[head] ? 1 : 0)));
  const some = unionOf(plain);
  return unionOf(single.map((panel) => panel.member)).map((is, head) => (is && !some[head] ? 1 : 0));
}

/**
 * Whether a head suppresses in the strongest of the categories that colour it.
 * @param {Plain[]} single
 * @param {Uint8Array[]} coloured
 */
function byTheStrongest(single, coloured) {
  return single[0].member.map((_, head) => {
    let most = -2;
    let flag = 0;
    for (const [i, { value, suppresses }] of single.entries()) {
      const strength = Number.isNaN(value[head]) ? -1 : value[head];
      if (coloured[i][head] && strength > most) [most, flag] = [strength, suppresses[head]];
    }
    return flag;
  });
}

/**
 * True where any is.
 * @param {Uint8Array[]} several
 */
function unionOf(several) {
  const union = new Uint8Array(several[0].length);
  for (const flags of several) for (let head = 0; head < union.length; head++) union[head] |= flags[head];
  return union;
}

/**
 * How many are true.
 * @param {Uint8Array} flags
 */
export function countOf(flags) {
  let count = 0;
  for (let head = 0; head < flags.length; head++) count += flags[head];
  return count;
}
