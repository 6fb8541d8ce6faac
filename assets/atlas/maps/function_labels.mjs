// @ts-check
// The labels of the function map: which score of a head decides, and how far it can be trusted
// (dashboard/maps/function/labels.py). A label is named by its place in arrays over relations, kinds, layers and heads.

/** @typedef {import("./unpacking.mjs").Answer} Answer */

/**
 * @typedef {object} FunctionState
 * @property {"any" | "always"} how
 * @property {"both" | "promote" | "suppress"} kind
 * @property {"categories" | "scores"} colour
 * @property {string} relation
 * @property {number} tau
 * @property {number} top
 * @property {"all" | "beyond"} labels
 * @property {boolean} uncertain
 */

/** @typedef {{name: string, title: string, category: string, sentence: string, beside?: boolean}} Item */

/**
 * @typedef {object} Labels
 * @property {number} size heads
 * @property {string[]} kinds
 * @property {Item[]} items
 * @property {Float64Array} score NaN where there is none
 * @property {(label: number) => number} low of the 95 % interval
 * @property {(label: number) => number} high
 * @property {Uint8Array} copies 1 where the source itself outranks the target in most hits
 * @property {Float64Array} control the score with shuffled targets
 * @property {Uint8Array | null} missing
 * @property {Map<string, Decision>} decided by what they depend on
 * @property {Map<string, Ranked>} ranked
 */

/**
 * @typedef {object} Decision of every head
 * @property {Int32Array} label the one that decides: the highest, or with `always` the lowest of the relations
 * @property {Float64Array} strength its score, -1 without one
 * @property {Float64Array} value larger than τ when the head does any, or all, of the relations; NaN without a number
 * @property {Uint8Array} reason why there is none
 */

/** @typedef {{item: Uint8Array, verb: Uint8Array, score: Float64Array}} Ranked what heads do best, one place after the other */
/** @typedef {{items: number[], kinds: number[]}} Chosen relations and kinds by their indices */

/**
 * The numbers of an answer, ready for the rules.
 * @param {Answer} answer
 * @returns {Labels}
 */
export function labelsOf({ facts, arrays }) {
  const size = facts.layers.length * facts.heads;
  const perItem = facts.kinds.length * size;
  const codes = arrays.score || new Uint8Array(0);
  const rows = starts(arrays.rows || []);
  const doubts = starts(arrays.doubt_rows || []);
  const row = new Uint32Array(codes.length);
  const score = new Float64Array(codes.length);
  const copies = new Uint8Array(codes.length);
  const control = new Float64Array(codes.length);
  for (let label = 0; label < codes.length; label++) {
    const item = Math.floor(label / perItem);
    row[label] = 3 * (rows[item] + codes[label]);
    score[label] = arrays.table[row[label]];
    const doubt = 2 * (doubts[item] + arrays.doubt[label]);
    copies[label] = arrays.doubt_table[doubt];
    control[label] = arrays.doubt_table[doubt + 1];
  }
  const low = (/** @type {number} */ label) => arrays.table[row[label] + 1];
  const high = (/** @type {number} */ label) => arrays.table[row[label] + 2];
  const missing = arrays.missing || null;
  const kept = { decided: new Map(), ranked: new Map() };
  return { size, kinds: facts.kinds, items: facts.items, score, low, high, copies, control, missing, ...kept };
}

/**
 * Where tables of these lengths begin, one after the other.
 * @param {ArrayLike<number>} lengths
 */
function starts(lengths) {
  const offsets = [0];
  for (let i = 0; i < lengths.length; i++) offsets.push(offsets[i] + lengths[i]);
  return offsets;
}

/**
 * The kinds that count.
 * @param {Labels} labels
 * @param {FunctionState} state
 */
export function kindsOf({ kinds }, { kind }) {
  const indices = kinds.map((_, i) => i);
  return kind === "both" ? indices : indices.filter((i) => kinds[i] === kind);
}

/**
 * @param {Labels} labels
 * @param {number} item
 * @param {number} kind
 * @param {number} head
 */
export function labelAt({ kinds, size }, item, kind, head) {
  return (item * kinds.length + kind) * size + head;
}

/**
 * Whether a label is copy-like or unspecific.
 * @param {Labels} labels
 * @param {number} label
 * @param {number} tau
 */
export function isPoor({ copies, control }, label, tau) {
  return copies[label] === 1 || control[label] > tau;
}

/** What a head's labels are worth: flags of `worthOf`. */
export const [COUNTS, GOOD, CERTAIN] = [1, 2, 4];

/**
 * Of every head whether it belongs by labels that count, by labels beyond copying, and by labels that are certain:
 * in any kind of any relation, or of all. Most heads do not belong by the label that decides, and so by none.
 * @param {Labels} labels
 * @param {Chosen} chosen
 * @param {FunctionState} state
 * @returns {Uint8Array} flags
 */
export function worthOf(labels, chosen, state) {
  const { size, score } = labels;
  const { label } = decisionOf(labels, chosen, state.how);
  const worth = new Uint8Array(size);
  for (let head = 0; head < size; head++) {
    if (score[label[head]] > state.tau) worth[head] = worthAt(labels, chosen, head, state);
  }
  return worth;
}

/**
 * @param {Labels} labels
 * @param {Chosen} chosen
 * @param {number} head
 * @param {FunctionState} state
 */
function worthAt(labels, { items, kinds }, head, state) {
  const isAlways = state.how === "always";
  let flags = isAlways ? COUNTS | GOOD | CERTAIN : 0;
  for (const item of items) {
    let ofItem = 0;
    for (const kind of kinds) {
      const label = labelAt(labels, item, kind, head);
      if (labels.score[label] > state.tau) ofItem |= flagsOf(labels, label, state);
    }
    flags = isAlways ? flags & ofItem : flags | ofItem;
  }
  return flags;
}

/**
 * The flags of a score above τ.
 * @param {Labels} labels
 * @param {number} label
 * @param {FunctionState} state
 */
function flagsOf(labels, label, { tau, labels: which }) {
  const good = isPoor(labels, label, tau) ? 0 : GOOD;
  const isUncertain = labels.low(label) <= tau && tau <= labels.high(label);
  return (good || which === "all" ? COUNTS : 0) | good | (isUncertain ? 0 : CERTAIN);
}

/**
 * The one label of a head that decides, by scores without gaps: the highest, or with `always` the lowest of the relations.
 * @param {Labels} labels
 * @param {Chosen} chosen
 * @param {number} head
 * @param {FunctionState["how"]} how
 * @param {(label: number) => number} filled
 */
function decidingAt(labels, { items, kinds }, head, how, filled) {
  let deciding = -1;
  let most = 0;
  for (const item of items) {
    let best = -1;
    let strength = 0;
    for (const kind of kinds) {
      const label = labelAt(labels, item, kind, head);
      const value = filled(label);
      if (best < 0 || value > strength) [best, strength] = [label, value];
    }
    if (deciding < 0 || (how === "always" ? strength < most : strength > most)) [deciding, most] = [best, strength];
  }
  return deciding;
}

/**
 * Of every head the label that decides and the number behind it, or why there is none. Nothing of it depends on τ, so that
 * it is computed once.
 * @param {Labels} labels
 * @param {Chosen} chosen
 * @param {FunctionState["how"]} how
 * @returns {Decision}
 */
export function decisionOf(labels, chosen, how) {
  const key = `${chosen.items} ${chosen.kinds} ${how}`;
  const earlierDecision = labels.decided.get(key);
  if (earlierDecision) return earlierDecision;
  const made = {
    label: new Int32Array(labels.size).fill(-1),
    strength: new Float64Array(labels.size),
    value: new Float64Array(labels.size).fill(NaN),
    reason: new Uint8Array(labels.size),
  };
  for (const item of chosen.items) addItem(made, labels, item, chosen.kinds, how === "always");
  for (let head = 0; head < labels.size; head++) {
    if (Number.isNaN(made.value[head])) made.reason[head] = worstReason(labels, chosen.items, head);
  }
  labels.decided.set(key, made);
  return made;
}

/**
 * One more relation: of its kinds the strongest, of the relations the strongest or, for all of them, the weakest. A number
 * is missing where one of a relation's kinds has none; for all relations, where one of them has none.
 * @param {Decision} made
 * @param {Labels} labels
 * @param {number} item
 * @param {number[]} kinds
 * @param {boolean} isAlways
 */
function addItem({ label, strength, value }, labels, item, kinds, isAlways) {
  const { score, size } = labels;
  for (let head = 0; head < size; head++) {
    const isFirst = label[head] < 0;
    let best = -1;
    let most = 0;
    let reduced = -Infinity;
    for (let i = 0; i < kinds.length; i++) {
      const at = labelAt(labels, item, kinds[i], head);
      const number = score[at];
      const filled = Number.isNaN(number) ? -1 : number;
      if (best < 0 || filled > most) {
        best = at;
        most = filled;
      }
      reduced = Math.max(reduced, number); // NaN where any is
    }
    if (isFirst || (isAlways ? most < strength[head] : most > strength[head])) {
      label[head] = best;
      strength[head] = most;
    }
    if (isAlways) value[head] = isFirst ? reduced : Math.min(value[head], reduced);
    else if (!(reduced <= value[head]) && !Number.isNaN(reduced)) value[head] = reduced;
  }
}

/**
 * The same of the labels that the state lets count; of a head that does not belong by these, of all.
 * @param {Labels} labels
 * @param {Chosen} chosen
 * @param {FunctionState} state
 * @param {Uint8Array} worth
 * @returns {Int32Array}
 */
export function counting(labels, chosen, state, worth) {
  const { label: ofAll } = decisionOf(labels, chosen, state.how);
  if (state.labels === "all") return ofAll;
  const filled = (/** @type {number} */ label) => {
    const score = labels.score[label];
    return score > state.tau && !isPoor(labels, label, state.tau) ? score : -1;
  };
  return ofAll.map((label, head) => (worth[head] & COUNTS ? decidingAt(labels, chosen, head, state.how, filled) : label));
}

/**
 * The head that comes nearest by labels beyond copying, and its score; null where none has one above 0.
 * @param {Labels} labels
 * @param {number[][]} groups the relations of each panel
 * @param {FunctionState} state
 */
export function nearestBeyond(labels, groups, state) {
  const kinds = kindsOf(labels, state);
  const filled = (/** @type {number} */ label) => (isPoor(labels, label, state.tau) ? -1 : labels.score[label] || -1);
  let nearest = null;
  for (const items of groups) {
    for (let head = 0; head < labels.size; head++) {
      const score = filled(decidingAt(labels, { items, kinds }, head, state.how, filled));
      if (score > (nearest?.score || 0)) nearest = { head, score };
    }
  }
  return nearest;
}

/**
 * The worst reason why a head has no score for some relations.
 * @param {Labels} labels
 * @param {number[]} items
 * @param {number} head
 */
export function worstReason(labels, items, head) {
  let worst = 0;
  if (!labels.missing) return worst;
  for (const item of items) {
    for (let kind = 0; kind < labels.kinds.length; kind++) {
      worst = Math.max(worst, labels.missing[labelAt(labels, item, kind, head)]);
    }
  }
  return worst;
}

/**
 * Whether a label is one of suppressing.
 * @param {Labels} labels
 * @param {number} label
 */
export function isSuppressing({ kinds, size }, label) {
  return kinds[Math.floor(label / size) % kinds.length] === "suppress";
}
