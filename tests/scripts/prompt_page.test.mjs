// @ts-check
// The question about a text of one's own.
import assert from "node:assert/strict";
import test from "node:test";

import { headTicks, heatColour, tokenTicks } from "../../assets/atlas/heat.mjs";
import { headNames, leftOutWords, mostSeen, questionOf, sourceOf } from "../../assets/atlas/prompt_page.mjs";

test("heads are separated by blanks or commas", () => {
  assert.deepEqual(headNames(" L18H6, 16.0;10,7 "), ["L18H6", "16.0", "10,7"]);
});

test("a question names the checkpoint and every head, and escapes the text", () => {
  const question = questionOf("a/b@12ab", "x & <y>", ["L1H2", "L3H4"], "last", "mean");
  const heads = "head=L1H2&head=L3H4";
  assert.equal(
    question,
    `/api/prompt?model=a/b&fingerprint=12ab&text=x%20%26%20%3Cy%3E&ablate=last&instead=mean&${heads}`,
  );
});

test("a token in the text shows where it looks most", () => {
  assert.equal(mostSeen([0.2, 0.7, 0.1]), 1);
});

test("an answer says where it comes from", () => {
  const provenance = { version: "2", device: "cpu", libraries: { torch: "2.0" }, date: "2025-01-01T00:00:00Z", atlas: "0.1" };
  const model = { id: "a/b", fingerprint: "0123456789ab", layers: [0], heads: 1 };
  const words = sourceOf(/** @type {any} */ ({ model, provenance }));
  assert.equal(words, "a/b 01234567 · prompt version 2, Head Atlas 0.1, torch 2.0, cpu, 2025-01-01T00:00:00Z");
});

test("full blue is on the side of zero that is asked for", () => {
  /** @type {import("../../assets/atlas/heat.mjs").Ends} */
  const ENDS = ["#0072b2", "#d55e00"];
  const [blue, orange] = ENDS.map((end) => `${end}80`); // half as strong
  assert.deepEqual([heatColour(1, 2, ENDS), heatColour(-1, 2, ENDS)], [blue, orange]);
  assert.deepEqual([heatColour(-1, -2, ENDS), heatColour(1, -2, ENDS)], [blue, orange]); // without the head: loses, gains
});

test("a map of heads has numbers along its layers and heads, in the middle of their squares", () => {
  const { across, down } = headTicks([3, 7, 11, 15], 2);
  assert.deepEqual(across.map(({ text }) => text), ["3", "7", "11", "15"]);
  assert.deepEqual(down, [{ at: 0.25, text: "0" }, { at: 0.75, text: "1" }]);
  assert.ok(headTicks([...Array(80).keys()], 64).across.length <= 12);
});

test("tokens along an axis are shortened, and every n-th of many", () => {
  const ticks = tokenTicks(["The", "␣capital", "␣incomprehensible", "␣is"]);
  assert.deepEqual(ticks.map(({ at }) => at), [0.125, 0.375, 0.625, 0.875]);
  assert.deepEqual(ticks.map(({ text }) => text), ["The", "␣capital", "␣incompre…", "␣is"]);
  const many = tokenTicks(Array.from({ length: 100 }, (_, i) => `t${i}`));
  assert.deepEqual(many.slice(0, 3).map(({ text }) => text), ["t0", "t5", "t10"]);
  assert.equal(many.length, 20);
});

test("heads whose attention is not shown are named", () => {
  assert.equal(leftOutWords([], 8), "");
  assert.equal(leftOutWords(["L1H2"], 8), "The attention of at most 8 heads is shown; L1H2 is left out.");
  assert.match(leftOutWords(["L1H2", "L3H4"], 8), /L1H2, L3H4 are left out\.$/);
});
