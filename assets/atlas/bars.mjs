// @ts-check
// Layer profiles: bars on a panel's own layers, beside the panel or below it.
import { sizeOf } from "./geometry.mjs";

/** @typedef {import("./geometry.mjs").Grid} Grid */
/** @typedef {import("./geometry.mjs").Sight} Sight */
/** @typedef {import("./arrange.mjs").Box} Box */

/**
 * @typedef {object} Profile the share of each layer's heads that belong
 * @property {string[]} names
 * @property {string[]} colours
 * @property {Float32Array[]} shares of each name, by layer
 * @property {boolean} signed the second name's bars go the other way
 * @property {{head: number, score: number} | null} [beyond] where labels beyond copying alone count: the nearest head by these
 */

/** @typedef {{x: number, y: number, width: number, height: number, layer: number, name: number}} Bar */

const THICK = 0.8; // of a cell

/**
 * The longest bar of all profiles, which all are scaled by; never 0. Bars that go one way stand on each other.
 * @param {(Profile | null)[]} profiles
 */
export function mostOf(profiles) {
  let most = 0;
  for (const profile of profiles) {
    const layers = profile ? profile.shares[0].length : 0;
    for (let layer = 0; profile && layer < layers; layer++) {
      const shares = profile.shares.map((row) => row[layer]);
      const longest = profile.signed ? Math.max(...shares) : shares.reduce((sum, share) => sum + share, 0);
      most = Math.max(most, longest);
    }
  }
  return most || 1;
}

/**
 * Where bars begin: pixels from the left, or from the bottom.
 * @param {Pick<Box, "width" | "height">} box
 * @param {Profile} profile
 * @param {boolean} across
 */
export function baseOf(box, profile, across) {
  const length = across ? box.width : box.height;
  return profile.signed ? length / 2 : 0;
}

/**
 * The bars of a profile in its box: layers follow the panel's, shares go right, or up.
 * @param {Profile} profile
 * @param {Pick<Box, "width" | "height">} box
 * @param {Sight} sight
 * @param {Grid & {layers: readonly number[]}} grid
 * @param {number} most
 * @returns {Bar[]}
 */
export function barsOf(profile, box, sight, grid, most) {
  const { across, upward } = grid;
  const [start, count, size] = across ? [sight.top, sight.rows, box.height] : [sight.left, sight.columns, box.width];
  const room = (across ? box.width : box.height) - baseOf(box, profile, across);
  const ends = new Float64Array(grid.layers.length).fill(baseOf(box, profile, across));
  const bars = [];
  for (const [number, shares] of profile.shares.entries()) {
    for (let layer = 0; layer < shares.length; layer++) {
      const place = across && upward ? sizeOf(grid)[1] - 1 - layer : layer;
      const middle = ((place + 0.5 - start) / count) * size;
      if (shares[layer] <= 0 || middle <= 0 || middle >= size) continue;
      const isBack = profile.signed && number > 0;
      const length = (shares[layer] / most) * room;
      const from = isBack ? ends[layer] - length : ends[layer];
      if (!profile.signed) ends[layer] += length;
      const thick = (size / count) * THICK;
      const along = { near: middle - thick / 2, thick, from, length };
      bars.push({ ...laid(along, across, box.height), layer, name: number });
    }
  }
  return bars;
}

/**
 * @param {{near: number, thick: number, from: number, length: number}} bar
 * @param {boolean} across
 * @param {number} height
 */
function laid({ near, thick, from, length }, across, height) {
  if (across) return { x: from, y: near, width: length, height: thick };
  return { x: near, y: height - from - length, width: thick, height: length };
}

/**
 * The bars of each name as one path: a page redraws a few of them much faster than hundreds of bars.
 * @param {Bar[]} bars
 * @param {number} names
 * @returns {string[]}
 */
export function pathsOf(bars, names) {
  const paths = Array.from({ length: names }, () => "");
  for (const { x, y, width, height, name } of bars) {
    paths[name] += `M${x.toFixed(1)} ${y.toFixed(1)}h${width.toFixed(1)}v${height.toFixed(1)}h${(-width).toFixed(1)}z`;
  }
  return paths;
}

/**
 * What the bars say of the layer at a point of their box, such as `layer 8: F 25 %, N 50 %`; empty beyond the last.
 * @param {Profile} profile
 * @param {Pick<Box, "width" | "height">} box
 * @param {Sight} sight
 * @param {Grid & {layers: readonly number[]}} grid
 * @param {{x: number, y: number}} point
 */
export function wordsAt(profile, box, sight, grid, { x, y }) {
  const place = grid.across
    ? Math.floor(sight.top + (y / box.height) * sight.rows)
    : Math.floor(sight.left + (x / box.width) * sight.columns);
  const layer = grid.across && grid.upward ? grid.layers.length - 1 - place : place;
  if (!(layer in grid.layers)) return "";
  const words = profile.names.map((name, i) => `${name} ${Math.round(100 * profile.shares[i][layer])} %`);
  return `layer ${grid.layers[layer]}: ${words.join(", ")}`;
}
