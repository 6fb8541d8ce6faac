// @ts-check
// Where in the network: a bar for every layer, its parts stacked; or the nearest head where there is none.
import { fixed } from "./digits.mjs";
import { element } from "./elements.mjs";
import { indexOf, nameOf } from "./heads.mjs";

/** @typedef {import("./bars.mjs").Profile} Profile */
/** @typedef {import("./heads.mjs").Heads} Heads */
/** @typedef {{x: number, y: number, width: number, height: number, colour: string, words: string}} Bar */
/** @typedef {{left: number, width: number}} Place pixels from the section's edge */
/** @typedef {{from: number, count: number}} Seen the layers in view, by index; a layer may be in view in part */

const HEIGHT = 150; // pixels
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 8, 16, 34];
const TICK = 22; // pixels between labels, at least
const NUMBERS = 16; // pixels before the bars for the 0, at least
const WORDS = 150; // pixels beside the bars from which on there is room for the colours in words
const SVG = "http://www.w3.org/2000/svg";
const STEPS = [1, 2, 5, 10, 20, 50, 100];

/**
 * The largest stack, from 0 to 1.
 * @param {Profile} profile
 */
export function highestOf({ shares }) {
  let most = 0;
  for (let layer = 0; layer < (shares[0]?.length || 0); layer++) {
    most = Math.max(most, shares.reduce((sum, of) => sum + of[layer], 0));
  }
  return most;
}

/**
 * The bars in a box: layers across, shares stacked upwards.
 * @param {Profile} profile
 * @param {readonly number[]} layers
 * @param {{width: number, height: number}} box
 * @param {number} most the share at the top
 * @returns {Bar[]}
 */
export function stacked({ names, colours, shares }, layers, box, most) {
  const wide = box.width / layers.length;
  const bars = [];
  for (const [at, layer] of layers.entries()) {
    let below = 0;
    for (const [i, of] of shares.entries()) {
      if (!of[at]) continue;
      const height = (of[at] / most) * box.height;
      const y = box.height - below - height;
      const words = `layer ${layer}: ${names[i]} ${Math.round(100 * of[at])} %`;
      bars.push({ x: (at + 0.08) * wide, y, width: 0.84 * wide, height, colour: colours[i], words });
      below += height;
    }
  }
  return bars;
}

/**
 * What the section shows: bars below the layers of the first map where these go across and fit, else over the whole width.
 * @param {Profile | null} profile
 * @param {Heads} heads
 * @param {number} width
 * @param {Place | null} below
 * @param {Seen | null} [seen] null for all layers
 * @returns {(HTMLElement | SVGElement)[]}
 */
export function layerBars(profile, heads, width, below, seen = null) {
  if (!profile) return [];
  const most = highestOf(profile);
  if (!most) return [element("p", "hint", nearest(heads, profile.beyond))];
  const place = placeOf(width, below);
  const { first, layers, shown } = inLayers(profile, heads.layers, seen);
  const wide = place.width / (seen ? seen.count : layers.length);
  const box = { width: wide * layers.length, height: HEIGHT - TOP - BOTTOM };
  const left = seen ? (first - seen.from) * wide : 0;
  const picture = drawn("svg", { width, height: HEIGHT, class: "layers", "aria-hidden": "true" });
  const sheet = drawn("g", { transform: `translate(${place.left + left} ${TOP})` });
  for (const { words, colour, ...bar } of stacked(shown, layers, box, most)) {
    const shape = drawn("rect", { ...bar, fill: colour });
    shape.append(drawn("title", {}, words));
    sheet.append(shape);
  }
  sheet.append(...axes(layers, box, most));
  if (width - place.left - place.width > WORDS) sheet.append(...keyOf(shown, place.width - left + 24));
  picture.append(sheet);
  return [picture];
}

/**
 * The layers whose middle is in view, and the part of a profile that is about them.
 * @param {Profile} profile
 * @param {readonly number[]} layers
 * @param {Seen | null} seen
 */
export function inLayers(profile, layers, seen) {
  if (!seen) return { first: 0, layers, shown: profile };
  const first = Math.max(Math.ceil(seen.from - 0.5), 0);
  const end = Math.min(Math.floor(seen.from + seen.count - 0.5) + 1, layers.length);
  const shares = profile.shares.map((of) => of.slice(first, end));
  return { first, layers: layers.slice(first, end), shown: { ...profile, shares } };
}

/**
 * Where the bars are in a section of some width.
 * @param {number} width
 * @param {Place | null} below the place of the first map's layers
 * @returns {Place}
 */
export function placeOf(width, below) {
  const fits = below && below.left >= NUMBERS && below.left + below.width <= width;
  return fits ? below : { left: LEFT, width: Math.max(width, 160) - LEFT - RIGHT };
}

/**
 * The colours in words, beside the bars.
 * @param {Profile} profile
 * @param {number} left
 */
function keyOf({ names, colours, shares }, left) {
  const marks = [];
  let top = 0;
  for (const [i, name] of names.entries()) {
    if (!shares[i].some(Boolean)) continue;
    marks.push(drawn("rect", { x: left, y: top, width: 10, height: 10, fill: colours[i] }));
    marks.push(drawn("text", { x: left + 16, y: top + 9, class: "start" }, name));
    top += 16;
  }
  return marks;
}

/**
 * @param {readonly number[]} layers
 * @param {{width: number, height: number}} box
 * @param {number} most
 */
function axes(layers, { width, height }, most) {
  const wide = width / layers.length;
  const step = STEPS.find((each) => each * wide >= TICK) || STEPS[STEPS.length - 1];
  const marks = [drawn("line", { x1: 0, x2: width, y1: height, y2: height, class: "base" })];
  for (let at = 0; at < layers.length; at += step) {
    marks.push(drawn("text", { x: (at + 0.5) * wide, y: height + 13, class: "tick" }, String(layers[at])));
  }
  marks.push(drawn("text", { x: width / 2, y: height + 27, class: "axis" }, "layer"));
  marks.push(drawn("text", { x: 0, y: -4, class: "tick start" }, `${Math.round(100 * most)} %`));
  marks.push(drawn("text", { x: -5, y: height, class: "tick down" }, "0"));
  return marks;
}

/**
 * Which head comes nearest where none belongs.
 * @param {Heads} heads
 * @param {Profile["beyond"]} [beyond] where labels beyond copying alone count
 */
export function nearest(heads, beyond) {
  if (heads.isWaiting) return "No head is above τ.";
  if (beyond === null) return "No head is above τ: no label beyond copying has a score above 0.";
  if (beyond) return nearestText(heads, beyond.head, beyond.score, " by labels beyond copying");
  const measure = heads.panels[0].measures[0];
  const values = measure ? measure.values() : [];
  let best = -1;
  for (let i = 0; i < values.length; i++) if (values[i] > (best < 0 ? 0 : values[best])) best = i;
  if (best < 0) return "No head is above τ: all scores are 0.";
  return nearestText(heads, best, values[best]);
}

/**
 * @param {Heads} heads
 * @param {number} index
 * @param {number} score
 * @param {string} [of]
 */
function nearestText(heads, index, score, of = "") {
  const row = Math.floor(index / heads.heads);
  const cell = /** @type {[number, number]} */ ([row, index - indexOf(heads, [row, 0])]);
  return `No head is above τ; the nearest is ${nameOf(heads, cell)} with a score of ${fixed(score, 2)}${of}.`;
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {string} [text]
 * @returns {SVGElement}
 */
function drawn(tag, attributes, text = "") {
  const made = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text) made.textContent = text;
  return made;
}
