// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { countIn, isIn, readZoom, sightOf, zoomBetween, zoomText } from "../../assets/atlas/zoom.mjs";

const LAYERS = Array.from({ length: 80 }, (_, layer) => layer);
const GRID = { layers: LAYERS, heads: 64, across: false, upward: false };

test("without a zoom all heads are in sight", () => {
  assert.deepEqual(sightOf(null, GRID), { left: 0, top: 0, columns: 80, rows: 64 });
  assert.equal(countIn(sightOf(null, GRID)), 5120);
});

test("what was dragged is in sight, and squares stay square", () => {
  const zoom = zoomBetween([10, 8], [29, 15], GRID);
  assert.deepEqual(zoom, { layers: [10, 29], heads: [8, 15] });
  const sight = sightOf(zoom, GRID);
  assert.deepEqual(sight, { left: 10, top: 4, columns: 20, rows: 16 });
  assert.equal(countIn(sight), 320);
});

test("a zoom at the edge, or beyond it, stays on the map", () => {
  const zoom = zoomBetween([90, -3], [76, 1], GRID);
  assert.deepEqual(zoom, { layers: [76, 79], heads: [0, 1] });
  assert.deepEqual(sightOf(zoom, GRID), { left: 76, top: 0, columns: 4, rows: 3.2 });
});

test("as many heads are said to be in sight as are counted, also where the edge goes through their middles", () => {
  for (const grid of [GRID, { ...GRID, across: true, upward: true }]) {
    const sight = sightOf({ layers: [20, 24], heads: [0, 2] }, grid);
    for (const part of [sight, { ...sight, left: sight.left + 0.5, top: sight.top + 0.5 }]) {
      let found = 0;
      for (let layer = 0; layer < 80; layer++) for (let head = 0; head < 64; head++) found += Number(isIn(part, [layer, head], grid));
      assert.equal(found, countIn(part));
    }
  }
});

test("the same heads stay in sight when the maps are transposed", () => {
  const zoom = { layers: /** @type {[number, number]} */ ([10, 29]), heads: /** @type {[number, number]} */ ([8, 23]) };
  const turned = { ...GRID, across: true, upward: true };
  assert.deepEqual(sightOf(zoom, turned), { left: 8, top: 50, columns: 16, rows: 20 });
});

test("one head alone is no zoom", () => {
  assert.equal(zoomBetween([3, 3], [3, 3], GRID), null);
  assert.equal(zoomBetween([0, 0], [500, 1], GRID), null); // in squares that is the whole map
});

test("an address names a zoom by the layers' own numbers", () => {
  const hybrid = { layers: [1, 3, 5, 8], heads: 4 };
  const zoom = { layers: /** @type {[number, number]} */ ([1, 3]), heads: /** @type {[number, number]} */ ([0, 2]) };
  assert.equal(zoomText(zoom, hybrid.layers), "L3-8.H0-2");
  assert.deepEqual(readZoom("L3-8.H0-2", hybrid), zoom);
  for (const text of ["", "L2-8.H0-2", "L8-3.H0-2", "L3-8.H0-4", "L3-8.H2-0", "L3-8.H0-2x", "L99999-8.H0-2"]) {
    assert.equal(readZoom(text, hybrid), null, text);
  }
});
