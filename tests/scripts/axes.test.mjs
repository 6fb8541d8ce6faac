// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { axesOf } from "../../assets/atlas/axes.mjs";
import { barsOf, mostOf, pathsOf, wordsAt } from "../../assets/atlas/bars.mjs";
import { wholeOf } from "../../assets/atlas/geometry.mjs";

const GRID = { layers: [1, 3, 5, 8], heads: 2, across: false, upward: false };
const BOX = { width: 120, height: 60 };

/**
 * @param {import("../../assets/atlas/axes.mjs").Axis} axis
 */
function texts({ ticks }) {
  return ticks.map(({ at, text }) => `${text} at ${at}`);
}

test("every layer has its own number in the middle of its square", () => {
  const [across, down] = axesOf(BOX, wholeOf(GRID), GRID);
  assert.deepEqual([across.name, down.name], ["layer", "head"]);
  assert.deepEqual(texts(across), ["1 at 15", "3 at 45", "5 at 75", "8 at 105"]);
  assert.deepEqual(texts(down), ["0 at 15", "1 at 45"]);
});

test("where layers go up, the first is at the bottom", () => {
  const grid = { ...GRID, across: true, upward: true };
  const [across, down] = axesOf({ width: 60, height: 120 }, wholeOf(grid), grid);
  assert.deepEqual([across.name, down.name], ["head", "layer"]);
  assert.deepEqual(texts(down), ["1 at 105", "3 at 75", "5 at 45", "8 at 15"]);
});

test("there are as many ticks as have room, and only those in sight", () => {
  const layers = Array.from({ length: 80 }, (_, layer) => layer);
  const grid = { layers, heads: 64, across: false, upward: false };
  const [all] = axesOf({ width: 320, height: 256 }, wholeOf(grid), grid);
  assert.deepEqual(all.ticks.map(({ text }) => text), ["0", "10", "20", "30", "40", "50", "60", "70"]);
  const [some] = axesOf({ width: 320, height: 256 }, { left: 10.25, top: 0, columns: 10, rows: 8 }, grid);
  assert.deepEqual(some.ticks.map(({ text }) => text), ["10", "11", "12", "13", "14", "15", "16", "17", "18", "19"]);
});

const ROLES = {
  names: ["F", "N"],
  colours: ["blue", "red"],
  shares: [Float32Array.of(0.5, 0, 0, 0.25), Float32Array.of(0, 0, 0, 0.5)],
  signed: true,
};

test("bars of two roles go two ways from the middle, each as long as its share", () => {
  const bars = barsOf(ROLES, BOX, wholeOf(GRID), GRID, 0.5);
  const found = bars.map(({ x, y, width, height, layer, name }) => [...[x, y, width, height].map(Math.round), layer, name]);
  assert.deepEqual(found, [[3, 0, 24, 30, 0, 0], [93, 15, 24, 15, 3, 0], [93, 30, 24, 30, 3, 1]]);
  assert.equal(pathsOf(bars, 2)[1], "M93.0 30.0h24.0v30.0h-24.0z");
});

test("a profile says what its bars stand for at a layer", () => {
  assert.equal(wordsAt(ROLES, BOX, wholeOf(GRID), GRID, { x: 100, y: 3 }), "layer 8: F 25 %, N 50 %");
  assert.equal(wordsAt(ROLES, BOX, wholeOf(GRID), GRID, { x: 130, y: 3 }), "");
  const turned = { ...GRID, across: true, upward: true };
  assert.equal(wordsAt(ROLES, BOX, wholeOf(turned), turned, { x: 3, y: 1 }), "layer 8: F 25 %, N 50 %");
});

test("bars that go one way stand on each other", () => {
  const stacked = { ...ROLES, signed: false };
  assert.equal(mostOf([stacked, null]), 0.75);
  assert.equal(mostOf([ROLES]), 0.5);
  assert.equal(mostOf([]), 1);
  const last = barsOf(stacked, BOX, wholeOf(GRID), GRID, 0.75).filter(({ layer }) => layer === 3);
  assert.deepEqual(last.map(({ y, height }) => [y, height]), [[40, 20], [0, 40]]);
});

test("beside a map that lies the other way, bars go right from the layer's row", () => {
  const grid = { ...GRID, across: true, upward: true };
  const [bar] = barsOf(ROLES, { width: 60, height: 120 }, wholeOf(grid), grid, 0.5);
  assert.deepEqual([bar.x, bar.y, bar.width, bar.height].map(Math.round), [30, 93, 30, 24]);
});
