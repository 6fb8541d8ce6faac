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
 */

/** @typedef {{x: number, y: number, width: number, height: number, colour: string, words: string}} Bar */

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
      const words = `layer ${grid.layers[layer]}: ${profile.names[number]} ${Math.round(100 * shares[layer])} %`;
      bars.push({ ...laid(along, across, box.height), colour: profile.colours[number], words });
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
