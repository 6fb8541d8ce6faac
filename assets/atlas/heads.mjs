// @ts-check
// What the maps show: unpacked from the store, found by a head's name. Arrays run over layers, then heads.

/** @typedef {[row: number, column: number]} Cell a head: the index of its layer, and its number in the layer */
/** @typedef {Uint8Array | Uint16Array | Int16Array | Float32Array | Float64Array} Numbers */
/** @typedef {import("./squares.mjs").Look} Look */
/** @typedef {import("./bars.mjs").Profile} Profile */

/**
 * @typedef {object} PackedPanel
 * @property {string} key
 * @property {string} title
 * @property {string} note after the title
 * @property {string} row of panels in a grid
 * @property {string} column
 * @property {boolean} [leads] it stands for all others together
 * @property {string} reason
 * @property {number | null} label
 * @property {{shades: string[], codes: string, marks: string, empty: string, ground: string}} look
 * @property {PackedProfile | null} profile
 */

/** @typedef {{names: string[], colours: string[], shares: string[], signed: boolean}} PackedProfile */

/**
 * @typedef {object} Packed the store `heads`, whose arrays are in base64
 * @property {string} model its id and fingerprint
 * @property {string} named the view's query string with the model in it, without pins
 * @property {string} own the id of the custom relation set that is shown; empty for none
 * @property {string} view
 * @property {string[]} title what the browser's tab says, but for what follows the controls
 * @property {Record<string, unknown>} state values of all settings by their keys
 * @property {Record<string, unknown> | null} asked what the local controls said when the view was asked for; null for an address
 * @property {boolean} isDefault it is of the model that an address need not name
 * @property {string} numbers the address of the map's numbers; empty where there is no result
 * @property {string[]} compared the same of two results whose heads a figure below the maps compares
 * @property {boolean} layersUpward the first layer is at the bottom when heads go across
 * @property {import("./maps/text.mjs").Said[]} sentence
 * @property {import("./legend.mjs").Entry[]} legend
 * @property {string} topic
 * @property {Record<string, string>} idle
 * @property {Record<string, Record<string, string>>} called
 * @property {import("./maps/index.mjs").View["counts"]} counts
 * @property {import("./maps/index.mjs").ShareTable[]} shares
 * @property {PackedProfile | null} profile
 * @property {number[]} layers
 * @property {number} heads in a layer
 * @property {boolean} across heads go across, layers up or down; else the other way round
 * @property {boolean} upward the first row is at the bottom
 * @property {boolean} onlyFirst beside the table
 * @property {number} drawn how many panels are on the page, from the first on
 * @property {number} largest pixels of a square's side
 * @property {string[]} reasons why there is no score, by code
 * @property {{words: string[], codes: string}[]} labels
 * @property {PackedPanel[]} panels
 * @property {{count: number, titles: string[], verbs: string[], item: string, verb: string, score: string, low: string, high: string, remarks: string[], remark: string} | null} best
 */

/**
 * @typedef {object} Measure
 * @property {string} name
 * @property {number} low
 * @property {number} step
 * @property {number} digits
 * @property {boolean} ranked
 * @property {[low: () => Numbers, high: () => Numbers] | null} interval
 * @property {() => Numbers} values
 */

/**
 * @typedef {object} Label what a head is called by a panel
 * @property {string[]} words
 * @property {Numbers} codes
 */

/**
 * @typedef {object} Panel
 * @property {string} key
 * @property {string} title
 * @property {string} note after the title
 * @property {string} row of panels in a grid
 * @property {string} column
 * @property {boolean} [leads] it stands for all others together
 * @property {Numbers | null} reason null when every head has a score
 * @property {Label | null} label
 * @property {Label | null} [besides] what the tooltip says below the numbers
 * @property {Measure[]} measures
 * @property {Look} look
 * @property {Profile | null} profile
 */

/**
 * @typedef {object} Best the strongest items of every head, `count` of them
 * @property {number} count
 * @property {string[]} titles
 * @property {string[]} verbs
 * @property {() => Numbers} item
 * @property {() => Numbers} verb
 * @property {() => Numbers} score
 * @property {() => Numbers} low of the score's 95 % interval, in hundredths
 * @property {() => Numbers} high
 * @property {string[]} remarks what may be said against a score
 * @property {() => Numbers} remark which of them
 */

/** @typedef {{panels: Panel[], best: Best | null, profile: Profile | null, isWaiting: boolean}} Unpacked the last: for its numbers */
/** @typedef {Omit<Packed, "labels" | "panels" | "best" | "profile"> & Unpacked} Heads */

/**
 * The bytes of a base64 text.
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function bytes(text) {
  const raw = atob(text);
  const decoded = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) decoded[i] = raw.charCodeAt(i);
  return decoded;
}

/**
 * The numbers of a base64 text: bytes, or little-endian numbers of two or four bytes.
 * @param {string} text
 * @param {string} type
 * @returns {Numbers}
 */
export function numbers(text, type) {
  const decoded = bytes(text);
  if (type === "u2") return new Uint16Array(decoded.buffer);
  if (type === "f4") return new Float32Array(decoded.buffer);
  return decoded;
}

/**
 * Decoded when first asked for: painting comes before hovering, and must not wait for it.
 * @param {string} text
 * @param {string} type
 * @returns {() => Numbers}
 */
function lazily(text, type) {
  /** @type {Numbers | undefined} */
  let decoded;
  return () => (decoded ??= numbers(text, type));
}

/**
 * The numbers as the scripts use them.
 * @param {Packed} packed
 * @returns {Heads}
 */
export function unpack(packed) {
  const labels = packed.labels.map(unpackLabel);
  const panels = packed.panels.map((panel) => unpackPanel(panel, labels));
  const isWaiting = packed.numbers !== "";
  return { ...packed, panels, best: packed.best && unpackBest(packed.best), profile: unpackProfile(packed.profile), isWaiting };
}

/**
 * @param {Packed["labels"][number]} label
 * @returns {Label}
 */
function unpackLabel({ words, codes }) {
  const decoded = lazily(codes, "u2");
  return {
    words,
    get codes() {
      return decoded();
    },
  };
}

/**
 * @param {PackedPanel} panel
 * @param {Label[]} labels
 * @returns {Panel}
 */
function unpackPanel({ reason, label, look, profile, ...facts }, labels) {
  const decoded = lazily(reason, "u1");
  return {
    ...facts,
    get reason() {
      return reason ? decoded() : null;
    },
    label: label === null ? null : labels[label],
    measures: [],
    look: { ...look, codes: bytes(look.codes), marks: look.marks ? bytes(look.marks) : null },
    profile: unpackProfile(profile),
  };
}

/**
 * @param {PackedProfile | null} profile
 * @returns {Profile | null}
 */
function unpackProfile(profile) {
  return profile && { ...profile, shares: profile.shares.map((shares) => new Float32Array(bytes(shares).buffer)) };
}

/**
 * @param {NonNullable<Packed["best"]>} best
 * @returns {Best}
 */
function unpackBest({ item, verb, score, low, high, remark, ...facts }) {
  return {
    ...facts,
    item: lazily(item, "u1"),
    verb: lazily(verb, "u1"),
    score: lazily(score, "f4"),
    low: lazily(low, "u1"),
    high: lazily(high, "u1"),
    remark: lazily(remark, "u1"),
  };
}

/**
 * How many heads there are.
 * @param {Pick<Heads, "layers" | "heads">} heads
 */
export function countOf(heads) {
  return heads.layers.length * heads.heads;
}

/**
 * Where a head's numbers are in the arrays.
 * @param {Pick<Heads, "heads">} heads
 * @param {Cell} cell
 */
export function indexOf(heads, [row, column]) {
  return row * heads.heads + column;
}

/**
 * The name of the head at a place of a map.
 * @param {{layers: number[]}} model
 * @param {{row: number, column: number}} place
 */
export function nameAt({ layers }, { row, column }) {
  return `L${layers[row]}H${column}`;
}

/**
 * A head's name, such as L10H7.
 * @param {Pick<Heads, "layers">} heads
 * @param {Cell} cell
 */
export function nameOf(heads, [row, column]) {
  return nameAt(heads, { row, column });
}

/**
 * The layer and head that a text names, or null when it is no head's name.
 * @param {string | null | undefined} text
 * @param {RegExp} pattern
 * @returns {[layer: number, head: number] | null}
 */
export function parseName(text, pattern) {
  const match = pattern.exec(text || "");
  return match && [Number(match[1]), Number(match[2])];
}

/**
 * The head that a text names, or null when the model has none of that name.
 * @param {Pick<Heads, "layers" | "heads">} heads
 * @param {string | null | undefined} text
 * @param {RegExp} pattern
 * @returns {Cell | null}
 */
export function cellNamed(heads, text, pattern) {
  const name = parseName(text, pattern);
  if (!name) return null;
  const row = heads.layers.indexOf(name[0]);
  return row >= 0 && name[1] < heads.heads ? [row, name[1]] : null;
}
