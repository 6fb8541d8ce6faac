// Numbers of heads against each other.
import assert from "node:assert/strict";
import test from "node:test";

import { clipped, correlation, depthProfile, difference, extent, inside } from "../../assets/atlas/comparing.mjs";

test("zero is always within the extent, and heads without a value are passed over", () => {
  assert.deepEqual(extent([[[0.2, null], [0.5, 0.1]]]), [0, 0.5]);
  assert.deepEqual(extent([[[-2, -1]], [[null]]]), [-2, 0]);
});

test("a difference is of the heads that both have", () => {
  assert.deepEqual(difference([[1, null, 2]], [[3, 1, null]]), [[2, null, null]]);
});

test("correlation is 1 for a line up, -1 for a line down, and NaN where nothing varies", () => {
  assert.equal(correlation([[1, 2, 3]], [[2, 4, 6]]).toFixed(6), "1.000000");
  assert.equal(correlation([[1, 2, null]], [[4, 2, 9]]).toFixed(6), "-1.000000");
  assert.ok(Number.isNaN(correlation([[1, 1]], [[2, 3]])));
});

test("a value is placed between two ends, in the middle where they are equal", () => {
  assert.equal(clipped(5, 0, 10), 0.5);
  assert.equal(clipped(-5, 0, 10), 0);
  assert.equal(clipped(1, 2, 2), 0.5);
});

test("layers of models of different sizes go from 0 to 1", () => {
  assert.deepEqual(depthProfile([[1, 3], [null, 2], [0, 0]]), [
    { depth: 0, mean: 2 },
    { depth: 0.5, mean: 2 },
    { depth: 1, mean: 0 },
  ]);
  assert.equal(depthProfile([[1]])[0].depth, 0);
});

test("points inside a rectangle are found from any corner", () => {
  const points = [{ x: 1, y: 1 }, { x: 5, y: 5 }];
  assert.deepEqual(inside(points, { x: 2, y: 2 }, { x: 0, y: 0 }), [points[0]]);
  assert.deepEqual(inside(points, { x: 0, y: 9 }, { x: 9, y: 0 }), points);
});
