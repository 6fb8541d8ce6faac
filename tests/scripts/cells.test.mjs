// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { cellText, columnsOf, countText, harmless, leavesOf, rowsOf, shownCells, unpackedCells } from "../../assets/atlas/cells.mjs";
import { TEXTS } from "./samples.mjs";

test("cells are decoded from one byte each, or from two where a column has many values", () => {
  const few = unpackedCells({ values: [null, 0.5, "not computed"], codes: btoa("\x01\x00\x02") });
  assert.deepEqual([0, 1, 2].map(few), [0.5, null, "not computed"]);
  const values = Array.from({ length: 300 }, (_, i) => i);
  const many = unpackedCells({ values, codes: btoa("\x2b\x01\x00\x00") });
  assert.deepEqual([0, 1].map(many), [299, 0]);
});

test("a number has the digits of its column, a missing one its reason, and zero no sign", () => {
  assert.equal(cellText(0.4951, { digits: 2 }), "0.50");
  assert.equal(cellText(1, { digits: 2 }), "1.00");
  assert.equal(cellText(7, { digits: 0 }), "7");
  assert.equal(cellText(0.0123, { digits: 3, signed: true }), "+0.012");
  assert.equal(cellText(-0.5, { digits: 3, signed: true }), "-0.500");
  assert.equal(cellText(-0.0001, { digits: 3, signed: true }), "0.000");
  assert.equal(cellText("not computed", { digits: 2 }), "not computed");
  assert.equal(cellText(null, { digits: 2 }), "");
});

test("a column of the maps on the page has their values with four digits, reasons, and what they call heads", () => {
  const values = () => Float64Array.of(0.123456, NaN, 0.03125, 0.09375);
  const measure = { name: "", low: 0, step: 1, digits: 2, ranked: true, interval: null, values };
  const label = { words: ["Unclassified", "Knowledge"], codes: Uint8Array.of(1, 0, 0, 1) };
  const panel = { key: "all", measures: [measure], reason: Uint8Array.of(0, 2, 0, 0), label };
  const heads = /** @type {any} */ ({ panels: [panel], reasons: ["", "not computed", "not applicable"] });
  const cells = (/** @type {any} */ shown) => [0, 1, 2, 3].map((at) => shownCells(shown, heads)?.(at));
  assert.deepEqual(cells({ panel: "all" }), [0.1235, "not applicable", 0.0312, 0.0938]); // halves to even, as numpy rounds
  assert.deepEqual(cells({ otherwise: "Unclassified" }), ["Knowledge", "", "", "Knowledge"]);
  assert.equal(shownCells({ panel: "other" }, heads), null);
  assert.equal(shownCells({ panel: "all" }, /** @type {any} */ ({ ...heads, panels: [{ ...panel, measures: [] }] })), null);
});

const DEFINITIONS = [
  { field: "name", headerName: "Head" },
  {
    headerName: "antonym",
    children: [
      { field: "score.antonym", headerName: "Score", written: { digits: 2, behind: ["effect.antonym", "beyond.antonym"] } },
      { field: "effect.antonym", headerName: "Effect" },
      { field: "beyond.antonym", headerName: "β", written: { digits: 2 } },
    ],
  },
];

/** @type {Record<string, (number | string | null)[]>} */
const CELLS = {
  name: ["L0H0", "L0H1"],
  "score.antonym": [0.625, "not computed"],
  "effect.antonym": ["promote", ""],
  "beyond.antonym": [0.97, null],
};

test("columns look their values up, sort no words among numbers, and tell what stands behind a score", () => {
  const [name, group] = /** @type {any[]} */ (columnsOf(DEFINITIONS, (field, at) => CELLS[field][at]));
  const [score] = group.children;
  const rows = rowsOf((at) => CELLS.name[at], 2, 1).map((data) => ({ data }));
  assert.deepEqual([name.colId, score.colId], ["name", "score.antonym"]);
  assert.deepEqual(rows.map(name.valueGetter), ["L0H0", "L0H1"]);
  assert.deepEqual(rows.map(score.valueGetter), [0.625, null]);
  assert.deepEqual(rows.map(score.valueFormatter), ["0.62", "not computed"]);
  assert.deepEqual(rows.map(score.tooltipValueGetter), ["promote · β 0.97", ""]);
  assert.deepEqual(leavesOf(DEFINITIONS).map(({ field }) => field), Object.keys(CELLS));
});

test("a text that a spreadsheet would run gets an apostrophe, a number does not", () => {
  for (const [text, written] of TEXTS.spreadsheet) assert.equal(harmless(text), written);
  assert.equal(harmless(-0.5), "-0.5");
  assert.equal(harmless(null), "");
});

test("how many rows a filter leaves", () => {
  assert.equal(countText(270, 270), "270 heads");
  assert.equal(countText(41, 270), "41 of 270 heads");
  assert.equal(countText(0, 5120), "0 of 5,120 heads");
});
