// @ts-check
// From scores and state to what each panel of the function map shows (dashboard/maps/function/panels.py).
import {
  CERTAIN, COUNTS, counting, decisionOf, GOOD, isSuppressing, kindsOf, worthOf,
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
 * @property {Uint8Array} suppresses members by suppressing
 * @property {Uint8Array} falls heads, members or not, whose value is one of suppressing
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
  return groupsOf(facts, labels, state).map(({ named, items }) => panelOf(labels, named, items, state, facts.measured));
}

/**
 * The relations of each panel.
 * @param {Facts} facts
 * @param {Labels} labels
 * @param {FunctionState} state
 * @returns {{named: {key: string, title: string, tone: string}, items: number[]}[]}
 */
export function groupsOf(facts, labels, state) {
  const alone = facts.items.findIndex((/** @type {any} */ item) => item.name === state.relation);
  if (alone >= 0) {
    const { name, title, category } = facts.items[alone];
    return [{ named: { key: name, title, tone: category }, items: [alone] }];
  }
  return facts.categories.map((/** @type {{name: string, title: string}} */ { name, title }) => {
    const items = [];
    for (const [i, item] of labels.items.entries()) if (item.category === name) items.push(i);
    return { named: { key: name, title, tone: name }, items };
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
  const { value: reduced, reason } = decisionOf(labels, chosen, state.how);
  const value = new Float64Array(size);
  for (let head = 0; head < size; head++) {
    value[head] = worth[head] & COUNTS ? labels.score[label[head]] : reduced[head];
  }
  const member = membersOf(value, worth, state);
  const hollow = isMeasured ? new Uint8Array(size) : null;
  const pale = state.uncertain ? new Uint8Array(size) : null;
  const suppresses = new Uint8Array(size);
  for (let head = 0; head < size; head++) {
    if (!member[head]) continue;
    if (hollow && !(worth[head] & GOOD)) hollow[head] = 1;
    if (pale && !(worth[head] & CERTAIN)) pale[head] = 1;
    if (isSuppressing(labels, label[head])) suppresses[head] = 1;
  }
  return { ...named, value, member, reason, label, worth, hollow, pale, suppresses, falls: fallsOf(labels, label, value) };
}

/**
 * Where a score above 0 is one of suppressing, also below τ.
 * @param {Labels} labels
 * @param {Int32Array} label
 * @param {Float64Array} value
 */
function fallsOf(labels, label, value) {
  const falls = new Uint8Array(value.length);
  for (let head = 0; head < falls.length; head++) {
    if (value[head] > 0 && isSuppressing(labels, label[head])) falls[head] = 1;
  }
  return falls;
}

/**
 * The heads that belong: above τ, and only the strongest of them where so many are asked for; equal ones stay together.
 * @param {Float64Array} value
 * @param {Uint8Array} worth
 * @param {FunctionState} state
 */
function membersOf(value, worth, { tau, top }) {
  const member = new Uint8Array(value.length);
  for (let head = 0; head < member.length; head++) if (worth[head] & COUNTS && value[head] > tau) member[head] = 1;
  if (!top) return member;
  const above = value.filter((_, head) => member[head]).sort();
  if (top >= above.length) return member;
  const least = above[above.length - top];
  for (let head = 0; head < member.length; head++) if (value[head] < least) member[head] = 0;
  return member;
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
  const signs = { suppresses: byTheStrongest(single, coloured), falls: fallsOf(labels, label, value) };
  const named = { key: ALL, title: ALL_TITLE, tone: "" };
  return { ...named, value, member, reason, label, worth: member, ...marks, ...signs, single, coloured, howMany };
}

/**
 * Of each head the deciding label of its strongest category, before others of one that counts it.
 * @param {Labels} labels
 * @param {Plain[]} single
 * @param {FunctionState} state
 */
function strongest(labels, single, state) {
  const strongest = new Int32Array(labels.size);
  const most = new Float64Array(labels.size).fill(-Infinity);
  const bonus = state.labels === "beyond" ? 2 : 0;
  for (const { label, worth } of single) {
    for (let head = 0; head < strongest.length; head++) {
      const score = labels.score[label[head]];
      const strength = (Number.isNaN(score) ? -1 : score) + (worth[head] & COUNTS ? bonus : 0);
      if (strength > most[head]) [most[head], strongest[head]] = [strength, label[head]];
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
  const filled = single.map(({ member, hollow }) => without(member, hollow));
  const some = unionOf(filled);
  return single.map(({ member }, i) => {
    const coloured = filled[i].slice();
    for (let head = 0; head < coloured.length; head++) if (!some[head]) coloured[head] = member[head];
    return coloured;
  });
}

/**
 * Those of one that are not of the other.
 * @param {Uint8Array} one
 * @param {Uint8Array | null} other
 */
function without(one, other) {
  const left = one.slice();
  for (let head = 0; other && head < left.length; head++) if (other[head]) left[head] = 0;
  return left;
}

/**
 * Members of one category or more that are hollow, or pale, in all of these.
 * @param {Plain[]} single
 * @param {"hollow" | "pale"} name
 */
function withoutPlain(single, name) {
  if (!single[0][name]) return null;
  const plain = unionOf(single.map((panel) => without(panel.member, panel[name])));
  return without(unionOf(single.map((panel) => panel.member)), plain);
}

/**
 * Whether a head suppresses in the strongest of the categories that colour it.
 * @param {Plain[]} single
 * @param {Uint8Array[]} coloured
 */
function byTheStrongest(single, coloured) {
  const flags = new Uint8Array(single[0].member.length);
  for (let head = 0; head < flags.length; head++) {
    let most = -2;
    for (let i = 0; i < single.length; i++) {
      if (!coloured[i][head]) continue;
      const strength = Number.isNaN(single[i].value[head]) ? -1 : single[i].value[head];
      if (strength > most) [most, flags[head]] = [strength, single[i].suppresses[head]];
    }
  }
  return flags;
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
