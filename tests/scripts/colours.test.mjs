// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { channels, halfway, inked } from "../../assets/atlas/colours.mjs";

test("a colour is three channels, and one number with red in its lowest byte", () => {
  assert.deepEqual(channels("#0072b2"), [0, 0x72, 0xb2]);
  assert.equal(inked("#0072b2"), 0xffb27200);
  assert.equal(inked(""), 0);
});

test("half-way is between two colours", () => {
  assert.equal(halfway("#000000", "#ffffff"), "#808080");
  assert.equal(halfway("#0072b2", "#0072b2"), "#0072b2");
});
