// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { badgeOf, isOver } from "../../assets/atlas/outlines.mjs";
import { titleRoom } from "../../assets/atlas/sheet.mjs";

const SQUARE = { left: 100, top: 50, width: 10, height: 10 };

test("a badge stands above its square, to the right or, where there is no room, to the left", () => {
  assert.deepEqual(badgeOf({ box: SQUARE, badge: "1", flips: false, drops: false }), { left: 110, top: 35, width: 16.5, height: 15 });
  assert.deepEqual(badgeOf({ box: SQUARE, badge: "1", flips: true, drops: false }), { left: 83.5, top: 35, width: 16.5, height: 15 });
});

test("boxes cover each other unless they are apart in one direction", () => {
  assert.ok(isOver(SQUARE, { ...SQUARE, left: 105, top: 55 }));
  assert.ok(!isOver(SQUARE, { ...SQUARE, left: 110 }));
  assert.ok(!isOver(SQUARE, { ...SQUARE, top: 39 }));
});

test("a title may go on to the next panel of its row, or to the end of the sheet", () => {
  const boxes = [{ left: 34, top: 30, width: 90, height: 90 }, { left: 334, top: 30, width: 90, height: 90 }];
  const place = { width: 600, height: 200, cell: 10, boxes, sides: [] };
  assert.equal(titleRoom(boxes[0], place), 334 - 34 - 34 - 5);
  assert.equal(titleRoom(boxes[1], place), 600 - 334 - 5);
});
