// @ts-check
// Addresses behind the search field.
import assert from "node:assert/strict";
import test from "node:test";

import { answersOf, modelQuery, pageOf } from "../../assets/atlas/query.mjs";

test("a model is asked for by its name and fingerprint", () => {
  assert.deepEqual(modelQuery("org/name@x@12ab"), { model: "org/name@x", fingerprint: "12ab" });
});

test("a head's page names the checkpoint", () => {
  assert.equal(pageOf("L1H2", "org/name@12ab"), "/head/L1H2?model=org/name@12ab");
});

test("a question stays one part of the address", () => {
  assert.equal(answersOf("a&b=c", "m@1"), "/search?model=m@1&q=a%26b%3Dc");
  assert.equal(answersOf("Custom", "m@1", "12ab"), "/search?model=m@1&own=12ab&q=Custom");
});
