// @ts-check
// What the rules of all maps share: panels without scores, reasons in the legend, shares of a layer's heads.

/** @typedef {import("../heads.mjs").Panel} Panel */
/** @typedef {import("../legend.mjs").Entry} Entry */
/** @typedef {import("./palette.mjs").Palette} Palette */
/** @typedef {import("./unpacking.mjs").Facts} Facts */

/**
 * Something made when it is first asked for: squares are painted before anything is read.
 * @template T
 * @param {() => T} make
 * @returns {() => T}
 */
export function later(make) {
  /** @type {{made: T} | undefined} */
  let kept;
  return () => (kept ??= { made: make() }).made;
}

/**
 * A panel in which no head has a score.
 * @param {Facts} facts
 * @param {{key: string, title: string, row?: string, column?: string}} named
 * @param {number | Uint8Array} why the reason of all heads, or of each
 * @param {Palette} palette
 * @returns {Panel}
 */
export function missingPanel(facts, named, why, palette) {
  const size = facts.layers.length * facts.heads;
  const reason = typeof why === "number" ? new Uint8Array(size).fill(why) : why;
  const note = facts.reasons[reason.reduce((worst, code) => Math.max(worst, code), 0)];
  const look = { shades: palette.missing, codes: reason, marks: null, empty: palette.empty, ground: "" };
  return { row: "", column: "", ...named, note, reason, label: null, measures: [], look, profile: null };
}

/**
 * Why there is no score, for the legend.
 * @param {Panel[]} panels
 * @param {Facts} facts
 * @param {Palette} palette
 * @returns {Entry[]}
 */
export function missingEntries(panels, facts, palette) {
  const seen = new Set();
  for (const { reason } of panels) for (const code of new Set(reason || [])) if (code) seen.add(code);
  const codes = [...seen].sort((one, other) => one - other);
  return codes.map((code) => ({ words: facts.reason_words[code], colour: palette.missing[code], kind: "outlined" }));
}

/**
 * The share of each layer's heads of which something is true; 0 for a layer without any score.
 * @param {Uint8Array} flags
 * @param {Uint8Array} reason
 * @param {Facts} facts
 * @returns {Float32Array}
 */
export function sharesOf(flags, reason, { layers, heads }) {
  return Float32Array.from(layers, (/** @type {number} */ _, /** @type {number} */ layer) => {
    let count = 0;
    let hasScore = false;
    for (let at = layer * heads; at < (layer + 1) * heads; at++) {
      count += flags[at];
      if (!reason[at]) hasScore = true;
    }
    return hasScore ? count / heads : 0;
  });
}
