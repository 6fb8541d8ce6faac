// @ts-check
// What a comparison says of its two sides.
import assert from "node:assert/strict";
import test from "node:test";

import { kindOf } from "../../assets/atlas/compare_form.mjs";
import { noteOf, numberWords, sameUnit, sourceOf } from "../../assets/atlas/compare_maps.mjs";

/**
 * @param {(number | null)[][]} values
 * @param {string} unit
 * @param {[string, string][] | null} [classes]
 */
function side(values, unit, classes = null) {
  const card = { id: "a/b", fingerprint: "0123456789ab", layers: values.map((_, i) => i), heads: values[0].length };
  return { card, values, title: "title", unit, classes, sources: [] };
}

const SHARES = side([[0, 0.5], [0.25, 1]], "share of pairs");
const CHANGES = side([[0, -2], [-1, 0]], "nats");

test("numbers of one unit have one scale", () => {
  assert.equal(sameUnit(SHARES, side([[1]], "share of pairs")), true);
  assert.match(noteOf(SHARES, SHARES), /One scale for both maps: from 0 to 1 \(share of pairs\)\.$/);
});

test("numbers of different units have their own scales, and it is said that there is no difference", () => {
  assert.equal(sameUnit(SHARES, CHANGES), false);
  const note = noteOf(SHARES, CHANGES);
  assert.match(note, /^Pearson r = .*Left: from 0 to 1 \(share of pairs\)\. Right: from −2 to 0, blue below 0/);
  assert.match(note, /there is no difference map\.$/);
});

test("classes have no scale, and are said by their words", () => {
  const classes = side([[0, 1], [1, null]], "class", [["neither", ""], ["both", "class-both"]]);
  assert.equal(sameUnit(classes, classes), false);
  assert.doesNotMatch(noteOf(classes, SHARES), /Pearson/);
  assert.match(noteOf(classes, classes), /Classes cannot be subtracted, and there is no difference map\.$/);
  assert.equal(numberWords(classes, { row: 0, column: 1 }), "both");
  assert.equal(numberWords(classes, { row: 1, column: 1 }), "no value");
});

test("two models of different depth are said to be aligned", () => {
  assert.match(noteOf(SHARES, side([[0, 1]], "share of pairs")), /from the first layer to the last, at the same width/);
});

test("a side names its checkpoint, the method and its version, and the day", () => {
  const sources = [{ method: "Map", version: "2", date: "2025-01-02T03:04:05Z", atlas: "0.1" }];
  assert.equal(sourceOf({ ...SHARES, sources }), "a/b@01234567 · Map version 2, Head Atlas 0.1, 2025-01-02");
});

test("samples are looked for by method and kind", () => {
  assert.equal(kindOf("running/any:knowledge/beyond promote"), "running/beyond promote");
});
