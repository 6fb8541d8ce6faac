// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { progressOf, refusalText } from "../../assets/atlas/jobs.mjs";

/**
 * @param {Partial<import("../../assets/atlas/jobs.mjs").Job>} [facts]
 */
function job(facts = {}) {
  const common = { id: "1", model: "m", state: "running", stage: "layers", done: 3, fingerprint: "01234567ab" };
  return { ...common, ...facts };
}

test("the map on the screen is drawn again when a job of its model went on, and only then", () => {
  const before = progressOf([job(), job({ id: "2", fingerprint: "ffff" })], "01234567");
  assert.notEqual(progressOf([job({ done: 4 })], "01234567"), before);
  assert.notEqual(progressOf([job({ state: "done" })], "01234567"), before);
  assert.equal(progressOf([job(), job({ id: "2", fingerprint: "ffff", done: 9 })], "01234567"), before);
  assert.equal(progressOf([job()], ""), "");
});

test("a refusal is told in the server's words, whatever their form", () => {
  const detail = [
    { loc: ["body", "model"], msg: "too short" },
    { loc: ["body", "rates", 3], msg: "no number" },
  ];
  assert.equal(refusalText({ detail }), "model: too short; rates 3: no number");
  assert.equal(refusalText({ detail: "there is no such job" }), "there is no such job");
  assert.equal(refusalText({ message: "two files are alike", hint: "Rename one." }), "two files are alike. Rename one.");
  assert.equal(refusalText({ message: "the disk is full", hint: "" }), "the disk is full");
  assert.equal(refusalText({}), "");
});
