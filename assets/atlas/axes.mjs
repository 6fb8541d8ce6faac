// @ts-check
// The axes of a map: whole-number ticks, as many as there is room for, and the names of what goes along them.
import { sizeOf } from "./geometry.mjs";

/** @typedef {import("./geometry.mjs").Grid} Grid */
/** @typedef {import("./geometry.mjs").Sight} Sight */
/** @typedef {import("./arrange.mjs").Box} Box */
/** @typedef {{at: number, text: string}} Tick pixels along the axis */
/** @typedef {{name: string, ticks: Tick[]}} Axis */

const STEPS = [1, 2, 5, 10, 20, 50, 100, 1000];
const [ROOM_ACROSS, ROOM_DOWN] = [22, 15]; // pixels between tick labels, at least

/**
 * Both axes of a map.
 * @param {Pick<Box, "width" | "height">} box
 * @param {Sight} sight
 * @param {Grid & {layers: readonly number[]}} grid
 * @returns {[across: Axis, down: Axis]}
 */
export function axesOf(box, sight, grid) {
  const [, rows] = sizeOf(grid);
  const heads = Array.from({ length: grid.heads }, (_, head) => head);
  const [across, down] = grid.across ? [heads, grid.layers] : [grid.layers, heads];
  const [left, top] = grid.across ? ["head", "layer"] : ["layer", "head"];
  const columns = ticksOf(across, sight.left, sight.columns, box.width, ROOM_ACROSS);
  const start = grid.upward ? rows - sight.top - sight.rows : sight.top;
  let lines = ticksOf(down, start, sight.rows, box.height, ROOM_DOWN);
  if (grid.upward) lines = lines.map(({ at, text }) => ({ at: box.height - at, text }));
  return [
    { name: left, ticks: columns },
    { name: top, ticks: lines },
  ];
}

/**
 * Ticks by place: the layers of a hybrid model are not numbered in a row.
 * @param {readonly number[]} numbers
 * @param {number} start cells before the first pixel
 * @param {number} length cells in sight
 * @param {number} size pixels
 * @param {number} room
 * @returns {Tick[]}
 */
function ticksOf(numbers, start, length, size, room) {
  const cell = size / length;
  const step = STEPS.find((each) => each * cell >= room) || STEPS[STEPS.length - 1];
  const ticks = [];
  for (let i = Math.ceil((start - 0.5) / step) * step; i < start + length - 0.5; i += step) {
    if (i >= 0 && i < numbers.length) ticks.push({ at: (i + 0.5 - start) * cell, text: String(numbers[i]) });
  }
  return ticks;
}
