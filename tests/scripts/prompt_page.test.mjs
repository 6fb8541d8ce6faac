// The question about a text of one's own.
import assert from "node:assert/strict";
import test from "node:test";

import { headNames, questionOf } from "../../assets/atlas/prompt_page.mjs";

test("heads are separated by blanks or commas, and there are at most eight", () => {
  assert.deepEqual(headNames(" L18H6, 16.0;10,7 "), ["L18H6", "16.0", "10,7"]);
  assert.equal(headNames("a b c d e f g h i").length, 8);
});

test("a question names the checkpoint and every head, and escapes the text", () => {
  const question = questionOf("a/b@12ab", "x & <y>", ["L1H2", "L3H4"], "last");
  assert.equal(question.toString(), "model=a%2Fb&fingerprint=12ab&text=x+%26+%3Cy%3E&ablate=last&head=L1H2&head=L3H4");
});
