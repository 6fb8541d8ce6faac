// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { unpack } from "../../assets/atlas/heads.mjs";
import { announcement, bestLines, labelText, measureText, rankOf, reasonText, scoreLines } from "../../assets/atlas/words.mjs";
import { measured, packed } from "./samples.mjs";

const heads = measured(unpack(packed()));
const [all, two, none] = heads.panels;

test("the largest value has rank 1, and equal values share a rank", () => {
  const values = Float32Array.of(0.5, 0.9, 0.5, 0.1);
  assert.deepEqual([0, 1, 2, 3].map((index) => rankOf(values, index)), [2, 1, 2, 4]);
});

test("values that are missing are nobody's betters", () => {
  assert.equal(rankOf(Float32Array.of(NaN, 0.2, NaN), 1), 1);
});

test("a measure is its name, its number and its rank", () => {
  assert.equal(measureText(all.measures[0], 0), "0.65, rank 1 of 4");
  assert.equal(measureText(all.measures[0], 2), "0.10, rank 2 of 4");
  assert.equal(measureText(two.measures[0], 2), "F 0.50, rank 2 of 4");
});

test("a measure with an interval tells it in hundredths, also of a number of 0", () => {
  const [low, high] = [Uint8Array.of(50, 4, 4, 0), Uint8Array.of(78, 20, 20, 5)];
  const measure = { ...all.measures[0], interval: /** @type {any} */ ([() => low, () => high]) };
  assert.equal(measureText(measure, 0), "0.65 (0.50–0.78), rank 1 of 4");
  assert.equal(measureText(measure, 3), "0.00 (0.00–0.05)");
});

test("a number of 0 has no rank, nor has a measure that is not ranked", () => {
  assert.equal(measureText(all.measures[0], 3), "0.00");
  assert.equal(measureText(two.measures[1], 1), "g −0.5000");
  assert.equal(measureText(two.measures[1], 0), "g 0.5000");
});

test("a head's label is its panel's, and a panel may have none", () => {
  assert.equal(labelText(all, 0), "Knowledge · Linguistic");
  assert.equal(labelText(all, 1), "Unclassified");
  assert.equal(labelText(two, 1), "hurting");
  assert.equal(labelText(none, 0), "");
});

test("a head without a score has a reason", () => {
  assert.equal(reasonText(heads, all, 3), "");
  assert.equal(reasonText(heads, two, 3), "running");
  assert.equal(reasonText(heads, none, 0), "not applicable");
  assert.equal(reasonText(heads, none, 3), "no score");
  assert.equal(reasonText({ ...heads, isWaiting: true }, none, 3), "…");
});

test("a nameless measure stands behind the panel's title, named ones below it", () => {
  assert.deepEqual(scoreLines(heads, all, 0), ["All: 0.65, rank 1 of 4"]);
  assert.deepEqual(scoreLines(heads, two, 0), ["Math · Any", "F 1.00, rank 1 of 4", "g 0.5000"]);
  assert.deepEqual(scoreLines(heads, two, 3), ["Math · Any: running"]);
});

test("what a head does best with its interval and what is to be said against it, without scores of 0", () => {
  assert.deepEqual(bestLines(heads, 0), [
    { words: "promotes run → ran", score: "0.65", interval: "(0.50–0.78)", remark: "copy-like" },
    { words: "suppresses hot → cold", score: "0.25", interval: "(0.14–0.40)", remark: "" },
  ]);
  const [only] = bestLines(heads, 1);
  assert.deepEqual(only, { words: "promotes hot → cold", score: "0.10", interval: "(0.04–0.23)", remark: "" });
  assert.equal(bestLines(heads, 1).length, 1);
  assert.deepEqual(bestLines(heads, 3), []);
  assert.deepEqual(bestLines({ ...heads, best: null }, 0), []);
});

test("a head is announced with its name, its panel, its label there and what each number is", () => {
  assert.equal(announcement(heads, all, [0, 0]), "L3H0, All: Knowledge · Linguistic, score 0.65, rank 1 of 4");
  assert.equal(announcement(heads, two, [0, 1]), "L3H1, Math · Any: hurting, F 0.00 · g −0.5000");
  assert.equal(announcement(heads, two, [1, 1]), "L5H1, Math · Any: hurting, running");
  assert.equal(announcement(heads, none, [0, 0]), "L3H0, Empty, not applicable");
});
