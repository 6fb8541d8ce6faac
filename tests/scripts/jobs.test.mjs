// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { newsOf, problemsOf, progressOf, refusalText } from "../../assets/atlas/jobs.mjs";

/**
 * @param {Partial<import("../../assets/atlas/jobs.mjs").Job>} [facts]
 */
function job(facts = {}) {
  const common = { id: "1", model: "m", state: "running", stage: "Map: layers", phase: "Map", done: 3, fingerprint: "01234567ab" };
  return { ...common, ...facts };
}

test("the map on the screen is drawn again when a job of its model went on, and only then", () => {
  const before = progressOf([job(), job({ id: "2", fingerprint: "ffff" })], "01234567");
  assert.notEqual(progressOf([job({ done: 4 })], "01234567"), before);
  assert.notEqual(progressOf([job({ state: "done" })], "01234567"), before);
  assert.equal(progressOf([job(), job({ id: "2", fingerprint: "ffff", done: 9 })], "01234567"), before);
  assert.equal(progressOf([job({ stage: "Map: layer 4" }), job({ id: "2", fingerprint: "ffff" })], "01234567"), before);
  assert.notEqual(progressOf([job({ phase: "Tokens" })], "01234567"), before);
  assert.equal(progressOf([job()], ""), "");
});

test("the list is asked for when the jobs are others than those that it was made of", () => {
  const first = newsOf({ listed: "", count: 0 }, "[]");
  assert.deepEqual(first, { listed: "[]", count: 1 });
  assert.equal(newsOf(first ?? assert.fail(), "[]"), null);
  assert.deepEqual(newsOf({ listed: "[]", count: 1 }, '[{"id":"1"}]'), { listed: '[{"id":"1"}]', count: 2 });
});

test("a refusal is told in the server's words, each with its field", () => {
  const detail = [
    { loc: ["body", "model"], msg: "too short", field: "model", words: "Model: it is empty" },
    { loc: ["body", "rates", 3], msg: "no number", field: "rates", words: "Learning rates: 'abc' is not a number" },
    { loc: ["body", "rates", 2], msg: "no number", field: "rates", words: "Learning rates: 'abc' is not a number" },
  ];
  assert.deepEqual(problemsOf({ detail }, 422), [
    { field: "model", words: "Model: it is empty" },
    { field: "rates", words: "Learning rates: 'abc' is not a number" },
  ]);
  assert.deepEqual(problemsOf({ message: "no such model", hint: "Check it.", field: "model" }, 404), [
    { field: "model", words: "no such model. Check it." },
  ]);
  assert.deepEqual(problemsOf({}, 502), [{ field: "", words: "The server answered 502." }]);
  assert.equal(refusalText({ detail: "there is no such job" }), "there is no such job");
  assert.equal(refusalText({ message: "the disk is full", hint: "" }), "the disk is full");
  assert.equal(refusalText({}), "");
});
