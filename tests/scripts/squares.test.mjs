// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { wholeOf } from "../../assets/atlas/geometry.mjs";
import { HOLLOW, PALE, HALF, writeSquares } from "../../assets/atlas/squares.mjs";

const [EMPTY, BLUE, RED] = ["#ffffff", "#0000ff", "#ff0000"];
const NAMES = new Map([[0, "."], [0xffffffff, "_"], [0xffff0000, "B"], [0xff0000ff, "R"], [0xffff8080, "b"]]);

/**
 * The pixels of a map of two layers and two heads as text, a letter for each colour.
 * @param {number[]} codes
 * @param {number[] | null} marks
 * @param {{across?: boolean, upward?: boolean, size?: number, ground?: string, sight?: import("../../assets/atlas/geometry.mjs").Sight}} [options]
 */
function written(codes, marks, { across = false, upward = false, size = 4, ground = "", sight } = {}) {
  const grid = { layers: [0, 1], heads: 2, across, upward };
  const pixels = new Uint32Array(size * size);
  const look = {
    shades: [EMPTY, BLUE, RED],
    codes: Uint8Array.from(codes),
    marks: marks && Uint8Array.from(marks),
    empty: EMPTY,
    ground,
  };
  writeSquares({ pixels, width: size, height: size }, look, grid, sight || wholeOf(grid));
  const letters = Array.from(pixels, (pixel) => NAMES.get(pixel) || "?");
  return Array.from({ length: size }, (_, row) => letters.slice(row * size, (row + 1) * size).join(""));
}

test("layers go across and heads down, or the other way round, from the top or from the bottom", () => {
  assert.deepEqual(written([1, 0, 2, 0], null), ["BBRR", "BBRR", "____", "____"]);
  assert.deepEqual(written([1, 0, 2, 0], null, { across: true }), ["BB__", "BB__", "RR__", "RR__"]);
  assert.deepEqual(written([1, 0, 2, 0], null, { across: true, upward: true }), ["RR__", "RR__", "BB__", "BB__"]);
});

test("large squares stand apart on the page's own ground", () => {
  const lines = written([1, 1, 1, 1], null, { size: 12 });

test("a ground of their own is between columns as between rows", () => {
  const lines = written([1, 1, 1, 1], null, { size: 12, ground: RED });
  assert.equal(lines[0], "BBBBBRBBBBBR");
  assert.equal(lines[5], "RRRRRRRRRRRR");
});
  assert.equal(lines[0], "BBBBB.BBBBB.");
  assert.equal(lines[5], "............");
});

test("what is zoomed out of sight is not written", () => {
  const sight = { left: 1, top: 0, columns: 1, rows: 1 };
  assert.deepEqual(written([1, 0, 2, 0], null, { sight }), ["RRRR", "RRRR", "RRRR", "RRRR"]);
});

test("a hollow square is an outline, a pale one has a lighter inside", () => {
  const lines = written([1, 0, 1, 0], [HOLLOW, 0, PALE, 0], { size: 12 });
  assert.deepEqual(lines.slice(0, 6), ["BBBBB.BBBBB.", "B___B.BbbbB.", "B___B.BbbbB.", "B___B.BbbbB.", "BBBBB.BBBBB.", "............"]);
});

test("a head that suppresses has the lower left half of its square", () => {
  const lines = written([1, 0, 0, 0], [HALF, 0, 0, 0], { size: 12 });
  assert.deepEqual(lines.slice(0, 5).map((line) => line.slice(0, 5)), ["B____", "BB___", "BBB__", "BBBB_", "BBBBB"]);
});

test("heads that are left out are faded, the ground between squares stays", () => {
  const grid = { layers: [0, 1], heads: 1, across: false, upward: false };
  const look = { shades: [BLUE], codes: new Uint8Array(2), marks: null, empty: EMPTY, ground: "" };
  const pixels = new Uint32Array(12 * 6);
  writeSquares({ pixels, width: 12, height: 6 }, look, grid, wholeOf(grid), Uint8Array.of(1, 0));
  assert.equal(pixels[0], 0xffff0000);
  assert.equal(pixels[6] & 0xffffff, 0xff0000);
  assert.ok(pixels[6] >>> 24 < 0x80);
  assert.equal(pixels[11], 0);
});
