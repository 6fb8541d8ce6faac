// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { beside, boxOf, cellOf, headAt, pointOf } from "../../assets/atlas/geometry.mjs";
import { axis } from "./samples.mjs";

/** @typedef {import("../../assets/atlas/geometry.mjs").Axes} Axes */

const LAYERS = [0, 1, 2];
const HEADS = 5;

/**
 * Two maps beside each other, as the server lays them out.
 * @param {boolean} across
 * @param {boolean} upward
 * @returns {Axes[]}
 */
function maps(across, upward) {
  const [columns, rows] = across ? [HEADS, LAYERS.length] : [LAYERS.length, HEADS];
  return [20, 120].map((left) => [axis(columns, left), axis(rows, 30, upward)]);
}

test("layers go across, or heads when the map is transposed", () => {
  assert.deepEqual(pointOf([2, 4], false), [2, 4]);
  assert.deepEqual(pointOf([2, 4], true), [4, 2]);
  assert.deepEqual(cellOf(4, 2, { layers: LAYERS, heads: HEADS, across: true }), [2, 4]);
  assert.equal(cellOf(4, 2, { layers: LAYERS, heads: HEADS, across: false }), null);
});

test("a head's square is where its layer and number are", () => {
  const [first, second] = maps(false, false);
  assert.deepEqual(boxOf(first, [2, 4], false), { left: 40, top: 70, width: 10, height: 10 });
  assert.deepEqual(boxOf(second, [2, 4], false), { left: 140, top: 70, width: 10, height: 10 });
  assert.deepEqual(boxOf(maps(true, false)[0], [2, 4], true), { left: 60, top: 50, width: 10, height: 10 });
});

test("where rows go up, the first is at the bottom", () => {
  assert.deepEqual(boxOf(maps(true, true)[0], [0, 4], true), { left: 60, top: 50, width: 10, height: 10 });
  assert.deepEqual(boxOf(maps(true, true)[0], [2, 4], true), { left: 60, top: 30, width: 10, height: 10 });
});

test("the middle of a head's square is the head, in every orientation and on every map", () => {
  for (const across of [false, true]) {
    for (const upward of [false, true]) {
      const axes = maps(across, upward);
      for (const [map, pair] of axes.entries()) {
        for (let row = 0; row < LAYERS.length; row++) {
          for (let column = 0; column < HEADS; column++) {
            const box = boxOf(pair, [row, column], across);
            assert.ok(box);
            const grid = { layers: LAYERS, heads: HEADS, across };
            const hit = headAt(axes, box.left + 5, box.top + 5, grid);
            assert.deepEqual(hit, { cell: [row, column], map });
          }
        }
      }
    }
  }
});

test("between the maps and beyond them there is no head", () => {
  const grid = { layers: LAYERS, heads: HEADS, across: false };
  for (const [left, top] of [[19, 35], [51, 35], [119, 35], [151, 35], [25, 29], [25, 80]]) {
    assert.equal(headAt(maps(false, false), left, top, grid), null, `${left} ${top}`);
  }
});

test("a head that was zoomed out of sight has no square", () => {
  const shifted = { ...axis(3, 20), l2p: (/** @type {number} */ value) => 10 * (value + 0.5) - 30 };
  assert.equal(boxOf([shifted, axis(5, 30)], [1, 1], false), null);
});

test("the tooltip stays inside the window", () => {
  const window = { width: 400, height: 300 };
  const size = { width: 100, height: 60 };
  assert.deepEqual(beside({ x: 50, y: 150 }, size, window), [68, 120]);
  assert.deepEqual(beside({ x: 350, y: 150 }, size, window), [236, 120]);
  assert.deepEqual(beside({ x: 50, y: 0 }, size, window), [68, 8]);
  assert.deepEqual(beside({ x: 50, y: 299 }, size, window), [68, 232]);
  assert.deepEqual(beside({ x: 60, y: 150 }, { width: 390, height: 60 }, window), [4, 120]);
});
