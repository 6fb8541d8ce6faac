// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { stepped } from "../../assets/atlas/arrows.mjs";
import { refusal } from "../../assets/atlas/search.mjs";
import { HEAD } from "./samples.mjs";

/** @typedef {import("../../assets/atlas/heads.mjs").Cell} Cell */

const KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

/**
 * Where the four arrows lead from a head, on maps of 4 layers and 6 heads.
 * @param {Cell} from
 * @param {boolean} across
 * @param {boolean} upward
 */
function steps(from, across, upward) {
  const grid = { layers: [0, 1, 2, 3], heads: 6, across, upward };
  return KEYS.map((key) => stepped(from, key, grid));
}

test("layers across, heads down: left and right change the layer", () => {
  assert.deepEqual(steps([1, 2], false, false), [[0, 2], [2, 2], [1, 1], [1, 3]]);
});

test("layers across, heads up: the arrow up leads to the next head", () => {
  assert.deepEqual(steps([1, 2], false, true), [[0, 2], [2, 2], [1, 3], [1, 1]]);
});

test("heads across, layers down: left and right change the head", () => {
  assert.deepEqual(steps([1, 2], true, false), [[1, 1], [1, 3], [0, 2], [2, 2]]);
});

test("heads across, layers up: the arrow up leads to the next layer", () => {
  assert.deepEqual(steps([1, 2], true, true), [[1, 1], [1, 3], [2, 2], [0, 2]]);
});

test("at the edge of a map an arrow leads nowhere", () => {
  assert.deepEqual(steps([0, 0], false, false), [[0, 0], [1, 0], [0, 0], [0, 1]]);
  assert.deepEqual(steps([3, 5], false, false), [[2, 5], [3, 5], [3, 4], [3, 5]]);
});

test("the search says whether a text is no name or names no head of the model", () => {
  const heads = { layers: [0, 1, 2, 3], heads: 6 };
  assert.match(refusal(heads, "nonsense", HEAD), /^nonsense is not a head's name/);
  assert.equal(refusal(heads, "99.9", HEAD), "There is no head 99.9 here: layers go to 3, heads to 5.");
  assert.ok(refusal(heads, "x".repeat(500), HEAD).length < 120);
});
