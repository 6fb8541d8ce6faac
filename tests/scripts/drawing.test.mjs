// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { taskOf } from "../../assets/atlas/drawing.mjs";
import { unpack } from "../../assets/atlas/heads.mjs";
import { packed } from "./samples.mjs";

const WINDOW = { width: 1200, height: 600 };

test("panels of a grid say how many belong in a row, and profiles follow the layers", () => {
  const heads = unpack(packed());
  assert.deepEqual(taskOf(heads, WINDOW), {
    count: 3, columns: 2, rows: 2, ...WINDOW, largest: 26, profile: "", beside: 0, alike: true,
  });
  const led = heads.panels.map((panel, i) => ({ ...panel, leads: i === 0 }));
  assert.equal(taskOf({ ...heads, panels: led }, WINDOW).alike, false);
  const profile = { names: ["F"], colours: ["#0072b2"], shares: [new Float32Array(2)], signed: false };
  const panels = heads.panels.map((panel, i) => ({ ...panel, profile, column: i ? "any" : "always" }));
  const inGrid = { ...heads, panels };
  assert.equal(taskOf(inGrid, WINDOW).beside, 2);
  assert.equal(taskOf(inGrid, WINDOW).profile, "below");
  assert.equal(taskOf({ ...inGrid, across: true }, WINDOW).profile, "beside");
});

test("beside the table only the first panel is drawn, without a profile", () => {
  const heads = { ...unpack(packed()), drawn: 1, largest: 14 };
  assert.equal(taskOf(heads, WINDOW).count, 1);
  assert.equal(taskOf(heads, WINDOW).largest, 14);
});
