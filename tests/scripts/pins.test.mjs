// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { exchanged, toggled } from "../../assets/atlas/pins.mjs";
import { parseRules } from "../../assets/atlas/rules.mjs";

test("a click pins one head and unpins the others", () => {
  assert.deepEqual(toggled([], "L1H1", false, 8), ["L1H1"]);
  assert.deepEqual(toggled(["L1H1", "L2H2"], "L3H3", false, 8), ["L3H3"]);
  assert.deepEqual(toggled(["L1H1", "L2H2"], "L1H1", false, 8), ["L1H1"]);
});

test("a click on the only pinned head unpins it", () => {
  assert.deepEqual(toggled(["L1H1"], "L1H1", false, 8), []);
});

test("with shift a head is added or taken away", () => {
  assert.deepEqual(toggled(["L1H1"], "L2H2", true, 8), ["L1H1", "L2H2"]);
  assert.deepEqual(toggled(["L1H1", "L2H2"], "L1H1", true, 8), ["L2H2"]);
});

test("no more heads than the rules allow; one that is pinned can still be taken away", () => {
  assert.equal(toggled(["L1H1", "L2H2"], "L3H3", true, 2), null);
  assert.deepEqual(toggled(["L1H1", "L2H2"], "L2H2", true, 2), ["L1H1"]);
});

test("a neighbour takes a head's place, and no head is pinned twice", () => {
  assert.deepEqual(exchanged(["L1H1", "L2H2"], "L1H1", "L1H2"), ["L1H2", "L2H2"]);
  assert.deepEqual(exchanged(["L1H1", "L2H2"], "L1H1", "L2H2"), ["L2H2"]);
});

test("the rules are read as the server writes them; a name is matched as a whole", () => {
  const rules = parseRules('{"pins": 3, "head": "L(\\\\d)H(\\\\d)|x", "upload": 1000}');
  assert.deepEqual([rules.pins, rules.upload], [3, 1000]);
  assert.ok(rules.head.test("l1h2"));
  assert.ok(!rules.head.test("L1H23"));
  assert.ok(!rules.head.test("ax"));
});
