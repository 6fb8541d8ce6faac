// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { fixed } from "../../assets/atlas/digits.mjs";

test("numbers are rounded as Python rounds them", () => {
  /** @type {[number, number, string][]} */
  const cases = [
    [0.625, 2, "0.62"], [0.375, 2, "0.38"], [-0.625, 2, "-0.62"], [0.665, 2, "0.67"], [0.145, 2, "0.14"],
    [253.25, 1, "253.2"], [253.75, 1, "253.8"], [2.5, 0, "2"], [3.5, 0, "4"], [0, 2, "0.00"], [1, 2, "1.00"],
    [0.8750000001, 2, "0.88"], [1e21, 0, "1e+21"],
  ];
  for (const [number, digits, expected] of cases) assert.equal(fixed(number, digits), expected);
});
