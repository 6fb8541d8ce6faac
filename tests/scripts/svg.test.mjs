// @ts-check
// Figures with two axes: their size, their numbers, and where points stand.
import assert from "node:assert/strict";
import test from "node:test";

import { placing, sizeIn, ticksIn } from "../../assets/atlas/svg.mjs";

test("a figure is as wide as its room, on a phone too, and never higher than a window", () => {
  assert.deepEqual(sizeIn(310), { width: 310, height: 260 });
  assert.deepEqual(sizeIn(700), { width: 700, height: 385 });
  assert.deepEqual(sizeIn(4000), { width: 1100, height: 440 });
  assert.equal(sizeIn(0).width, 240);
});

test("numbers along an axis are round, and at most as many as there is room for", () => {
  assert.deepEqual(ticksIn([0, 0.96], 5), [0, 0.2, 0.4, 0.6, 0.8]);
  assert.deepEqual(ticksIn([-2.2, 0.4], 3), [-2, -1, 0]);
  assert.deepEqual(ticksIn([0, 1], 1), [0, 1]);
  assert.deepEqual(ticksIn([0, 0], 4), [0]);
  for (const [high, most] of [[0.013, 4], [31.4, 6], [7e5, 3]]) assert.ok(ticksIn([0, high], most).length <= most + 1);
});

test("a place has the numbers that stand there", () => {
  const { pixelsOf, numbersAt } = placing({ width: 400, height: 300 }, [-1, 3], [0, 0.5]);
  const numbers = numbersAt(pixelsOf({ x: 2, y: 0.1 }));
  assert.ok(Math.abs(numbers.x - 2) < 1e-9 && Math.abs(numbers.y - 0.1) < 1e-9);
  assert.ok(pixelsOf({ x: 3, y: 0.5 }).x < 400);
  assert.ok(pixelsOf({ x: 3, y: 0.5 }).y > 0);
});
