// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { byColour, channels, colouring, remarkIn } from "../../assets/atlas/colours.mjs";
import { isDarkIn } from "../../assets/atlas/screen.mjs";

/**
 * @param {string} dtype
 * @param {[number, string][]} colorscale
 */
function trace(dtype, colorscale) {
  return { z: { dtype, shape: "1, 1", bdata: "" }, colorscale };
}

test("a code has the colour of its step", () => {
  const colourOf = colouring(trace("u1", [[0, "#000000"], [0.5, "#000000"], [0.5, "#ff0000"], [1, "#ff0000"]]));
  assert.deepEqual([0, 1].map(colourOf), ["#000000", "#ff0000"]);
});

test("a code may leave a square as it is", () => {
  const colourOf = colouring(trace("u1", [[0, "rgba(0,0,0,0)"], [0.5, "rgba(0,0,0,0)"], [0.5, "#ff0000"], [1, "#ff0000"]]));
  assert.deepEqual([...byColour(Uint8Array.of(0, 1, 0), colourOf)], [["#ff0000", [1]]]);
});

test("a number lies between the two colours of its scale", () => {
  const colourOf = colouring(trace("f4", [[0, "#000000"], [1, "#ff8001"]]));
  assert.equal(colourOf(0), "rgb(0,0,0)");
  assert.equal(colourOf(1), "rgb(255,128,1)");
  assert.equal(colourOf(0.5), "rgb(128,64,1)");
});

test("a square without a number is left out", () => {
  const colourOf = colouring(trace("f4", [[0, "#000000"], [1, "#ffffff"]]));
  assert.equal(colourOf(NaN), null);
  const groups = byColour(Float32Array.of(0, NaN, 1, 0), colourOf);
  assert.deepEqual([...groups], [["rgb(0,0,0)", [0, 3]], ["rgb(255,255,255)", [2]]]);
});

test("a colour is read by its channels", () => {
  assert.deepEqual(channels("#0072b2"), [0, 114, 178]);
});

test("the remark of a title is what stands in its last span", () => {
  assert.equal(remarkIn('Knowledge <span style="color:#666">5 heads</span>'), "5 heads");
  assert.equal(remarkIn("Knowledge"), null);
});

test("the theme decides over the system", () => {
  assert.deepEqual(["dark", "light", "system"].map((theme) => isDarkIn(theme, true)), [true, false, true]);
  assert.deepEqual(["dark", "light", "system"].map((theme) => isDarkIn(theme, false)), [true, false, false]);
});
