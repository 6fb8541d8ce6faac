// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { pinnedPoints, placeOf } from "../../assets/atlas/points.mjs";

test("pinned heads are found among the points; without any all points stay as they are", () => {
  const names = ["L1H0", "L2H3", "L4H1"];
  assert.deepEqual(pinnedPoints(names, ["L4H1", "L9H9", "L1H0"]), [0, 2]);
  assert.equal(pinnedPoints(names, []), null);
  assert.equal(pinnedPoints([], ["L1H0"]), null);
});

test("a point says both scores of its head", () => {
  const axis = (/** @type {string} */ text) => ({ title: { text } });
  const point = { customdata: "L1H0", x: 0.65, y: 0.694, xaxis: axis("Weights"), yaxis: axis("Running model") };
  assert.equal(placeOf(point), "Weights 0.65 · Running model 0.69");
});
