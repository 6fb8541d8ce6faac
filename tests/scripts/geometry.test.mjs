// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { beside, boxOf, cellOf, headAt, spotOf, wholeOf } from "../../assets/atlas/geometry.mjs";

const [LAYERS, HEADS] = [[0, 1, 2], 5];

/**
 * Two maps of squares of ten pixels beside each other.
 * @param {boolean} across
 * @param {boolean} upward
 */
function maps(across, upward) {
  const grid = { layers: LAYERS, heads: HEADS, across, upward };
  const [columns, rows] = across ? [HEADS, LAYERS.length] : [LAYERS.length, HEADS];
  const boxes = [20, 120].map((left) => ({ left, top: 30, width: 10 * columns, height: 10 * rows }));
  return { grid, boxes, sight: wholeOf(grid) };
}

test("layers go across, or heads when the map is transposed", () => {
  const [plain, turned] = [maps(false, false).grid, maps(true, false).grid];
  assert.deepEqual(spotOf([2, 4], plain), [2, 4]);
  assert.deepEqual(spotOf([2, 4], turned), [4, 2]);
  assert.deepEqual(cellOf(4, 2, turned), [2, 4]);
  assert.equal(cellOf(4, 2, plain), null);
});

test("a head's square is where its layer and number are", () => {
  const { grid, boxes, sight } = maps(false, false);
  assert.deepEqual(boxOf(boxes[0], sight, [2, 4], grid), { left: 40, top: 70, width: 10, height: 10 });
  assert.deepEqual(boxOf(boxes[1], sight, [2, 4], grid), { left: 140, top: 70, width: 10, height: 10 });
});

test("where rows go up, the first is at the bottom", () => {
  const { grid, boxes, sight } = maps(true, true);
  assert.deepEqual(boxOf(boxes[0], sight, [0, 4], grid), { left: 60, top: 50, width: 10, height: 10 });
  assert.deepEqual(boxOf(boxes[0], sight, [2, 4], grid), { left: 60, top: 30, width: 10, height: 10 });
});

test("the middle of a head's square is the head, in every orientation and on every map", () => {
  for (const across of [false, true]) {
    for (const upward of [false, true]) {
      const { grid, boxes, sight } = maps(across, upward);
      for (const [map, box] of boxes.entries()) {
        for (let row = 0; row < LAYERS.length; row++) {
          for (let column = 0; column < HEADS; column++) {
            const square = boxOf(box, sight, [row, column], grid);
            assert.ok(square);
            const hit = headAt(boxes, sight, square.left + 5, square.top + 5, grid);
            assert.deepEqual(hit, { cell: [row, column], map });
          }
        }
      }
    }
  }
});

test("between the maps and beyond them there is no head", () => {
  const { grid, boxes, sight } = maps(false, false);
  for (const [left, top] of [[19, 35], [51, 35], [119, 35], [151, 35], [25, 29], [25, 80]]) {
    assert.equal(headAt(boxes, sight, left, top, grid), null, `${left} ${top}`);
  }
});

test("a head that was zoomed out of sight has no square, one in sight a larger one", () => {
  const { grid, boxes } = maps(false, false);
  const sight = { left: 1.5, top: 0, columns: 1.5, rows: 2.5 };
  assert.equal(boxOf(boxes[0], sight, [0, 1], grid), null);
  assert.deepEqual(boxOf(boxes[0], sight, [2, 1], grid), { left: 30, top: 50, width: 20, height: 20 });
});

test("the tooltip stays inside the window", () => {
  const window = { width: 400, height: 300 };
  const size = { width: 100, height: 60 };
  assert.deepEqual(beside({ x: 50, y: 150 }, size, window), [68, 120]);
  assert.deepEqual(beside({ x: 350, y: 150 }, size, window), [236, 120]);
  assert.deepEqual(beside({ x: 50, y: 0 }, size, window), [68, 8]);
  assert.deepEqual(beside({ x: 50, y: 299 }, size, window), [68, 232]);
  assert.deepEqual(beside({ x: 60, y: 150 }, { width: 390, height: 60 }, window), [4, 120]);
});
