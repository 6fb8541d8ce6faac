// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { titleOf } from "../../assets/atlas/cards.mjs";
import { roleIn } from "../../assets/atlas/maps/causal_card.mjs";
import { remarksOn } from "../../assets/atlas/maps/function_card.mjs";

const effect = { verb: "promotes", score: 0.5, low: 0.35, high: 0.65, copies: false, control: null };

test("what speaks against a label follows τ, of the weaker one with its verb", () => {
  assert.deepEqual(remarksOn([effect], 0.15), []);
  assert.deepEqual(remarksOn([effect], 0.4), ["uncertain"]);
  assert.deepEqual(remarksOn([effect], 0.5), []);
  const weaker = { ...effect, verb: "suppresses", score: 0.2, low: 0.1, high: 0.3, copies: true, control: 0.16 };
  assert.deepEqual(remarksOn([effect, weaker], 0.15), [
    "suppresses: copy-like", "suppresses: unspecific", "suppresses: uncertain",
  ]);
});

test("a role is told over the seeds, from θ on", () => {
  const seeds = [[0.9, 0, 0.1], [0.2, 0.7, 0.24]];
  assert.equal(roleIn(seeds, 0.5, "Math"), "needed for Math (F) in 1 of 2 seeds, hurts Math (N) in 1 of 2 seeds");
  assert.equal(roleIn(seeds, 0.2, "Math"), "needed for Math (F), hurts Math (N) in 1 of 2 seeds");
  assert.equal(roleIn([[0, 0, 1]], 0.5, "Math"), "does not matter for Math (R)");
  assert.equal(roleIn([[0, 0, 0.4]], 0.5, "Math"), "no clear role");
  assert.equal(roleIn([[0.9, null, 0.1]], 0.5, "what is to be forgotten"), "needed for what is to be forgotten (F)");
});

test("a head is called once where all panels agree, else by each panel", () => {
  /** @type {(title: string, label: object | null) => any} */
  const panel = (title, label) => ({ title, label });
  const label = { words: ["Unclassified", "Knowledge"], codes: Uint16Array.of(1, 0) };
  assert.equal(titleOf([panel("All", label), panel("Knowledge", label)], 0), "Knowledge");
  const other = { words: ["needs it"], codes: Uint16Array.of(0, 0) };
  assert.equal(titleOf([panel("Math", label), panel("Syntax", other)], 1), "Math: Unclassified · Syntax: needs it");
  assert.equal(titleOf([panel("Map", null)], 0), "");
});
