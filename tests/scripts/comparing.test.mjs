// @ts-check
// Numbers of heads against each other.
import assert from "node:assert/strict";
import test from "node:test";

import { brushOf, brushText, clipped, correlation, depthProfile, difference, extent, inside, short } from "../../assets/atlas/comparing.mjs";

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

test("a rectangle in an address is read as it was written, and anything else is none", () => {
  const text = brushText({ x: 0.123456, y: -2 }, { x: 0.5, y: 1e-7 });
  assert.equal(text, "0.1235,-2,0.5,1e-7");
  assert.deepEqual(brushOf(text), [{ x: 0.1235, y: -2 }, { x: 0.5, y: 1e-7 }]);
  for (const odd of ["", "1,2,3", "1,2,3,", "1,2,3,x", "1,2,3,4,5", "1,2,3,Infinity"]) assert.equal(brushOf(odd), null);
});

test("a number is short, with a true minus sign, and nothing where there is none", () => {
  assert.deepEqual([short(-0.0321), short(0), short(0.64999998, 3), short(null)], ["−0.032", "0", "0.65", ""]);
});
