// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { arrange } from "../../assets/atlas/arrange.mjs";

const CASES = JSON.parse(readFileSync(new URL("../cases/arrange.json", import.meta.url), "utf-8"));

test("panels stand where the server's pictures have them", () => {
  assert.ok(CASES.length > 20);
  for (const { task, place } of CASES) assert.deepEqual(arrange(task), place, JSON.stringify(task));
});
