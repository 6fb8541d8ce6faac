// @ts-check
// The colour of a square, as plotly would give it.

/** @typedef {import("./graph.mjs").Trace} Trace */

const NOTHING = "rgba(0,0,0,0)"; // leaves a square as it is

/**
 * From a value of a map to its colour; null for a square that is left out. Bytes are codes of single colours, other
 * numbers lie between two colours.
 * @param {Pick<Trace, "z" | "colorscale">} trace
 * @returns {(value: number) => string | null}
 */
export function colouring({ z, colorscale }) {
  if (z.dtype === "u1") return (code) => (colorscale[2 * code][1] === NOTHING ? null : colorscale[2 * code][1]);
  const low = channels(colorscale[0][1]);
  const high = channels(colorscale[1][1]);
  return (value) => (Number.isNaN(value) ? null : `rgb(${mixed(low, high, value).join()})`);
}

/**
 * The red, green and blue of a colour such as #0072b2.
 * @param {string} colour
 * @returns {number[]}
 */
export function channels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/**
 * @param {number[]} low
 * @param {number[]} high
 * @param {number} share
 */
function mixed(low, high, share) {
  return low.map((from, i) => Math.round(from + (high[i] - from) * share));
}

/**
 * The squares of each colour; those without one are left out.
 * @param {ArrayLike<number>} values
 * @param {(value: number) => string | null} colourOf
 * @returns {Map<string, number[]>}
 */
export function byColour(values, colourOf) {
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (let i = 0; i < values.length; i++) {
    const colour = colourOf(values[i]);
    if (!colour) continue;
    const group = groups.get(colour);
    if (group) group.push(i);
    else groups.set(colour, [i]);
  }
  return groups;
}

/**
 * The remark after a panel's title, such as how many heads it has; null when there is none.
 * @param {string} text
 */
export function remarkIn(text) {
  const match = />([^<>]*)<\/span>$/.exec(text);
  return match && match[1];
}
